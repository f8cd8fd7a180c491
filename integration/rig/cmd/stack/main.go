// Command stack starts, stops and shows the real parts for a person: see package rig.
//
//	stack up        start what does not run; print addresses and write a daemon file
//	stack status    probe every daemon
//	stack env       print the addresses as NAME=value
//	stack down      stop, and remove the data
//	stack referees  make the Python environment of the tests
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/loadctl/loadctl/integration/rig"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "stack:", err)
		os.Exit(1)
	}
}

// run is main without the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("stack", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: stack [flags] up|down|status|env|referees")
		flags.PrintDefaults()
	}
	var opt rig.Options
	metastore := flags.String("metastore", string(rig.Embedded), "where Hive's metastore runs: embedded or standalone")
	auth := flags.String("auth", string(rig.Custom), "HiveServer2's authentication: CUSTOM or NONE")
	flags.BoolVar(&opt.KeepOnDisconnect, "keep-on-disconnect", false, "let the query of a lost client run on")
	flags.StringVar(&opt.TimeZone, "timezone", "UTC", "time zone of HiveServer2")
	all := flags.Bool("all", false, "with down: stop the stacks of all variants")
	if err := flags.Parse(args); err != nil {
		return err
	}
	opt.Metastore, opt.Auth = rig.Metastore(*metastore), rig.Auth(*auth)
	opt.Log = slog.New(slog.NewTextHandler(stderr, nil))
	switch verb := flags.Arg(0); {
	case flags.NArg() != 1:
		flags.Usage()
		return flag.ErrHelp
	case verb == "up":
		return up(ctx, opt, stdout)
	case verb == "down" && *all:
		return rig.StopAll(ctx, "")
	case verb == "down":
		return rig.Stop(ctx, opt)
	case verb == "status":
		return status(ctx, opt, stdout)
	case verb == "env":
		return env(opt, stdout)
	case verb == "referees":
		return referees(ctx, stdout)
	default:
		return fmt.Errorf("unknown verb %q: want up, down, status, env or referees", verb)
	}
}

// up starts the stack and tells a person how to use it.
func up(ctx context.Context, opt rig.Options, out io.Writer) error {
	begin := time.Now()
	s, err := rig.Start(ctx, opt)
	if err != nil {
		return err
	}
	file := filepath.Join(s.Dir, "loadd.yaml")
	text, err := s.Loadd(rig.OracleSource{
		Name: "core", Host: "127.0.0.1", Port: 1521, Service: "ORASIMPDB1", User: "loadctl", Password: "${env:ORACLE_PASSWORD}",
	}, "jobs/*.yaml")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write daemon file: %w", err)
	}
	fmt.Fprintf(out, `the stack is up (%.1f s) and stays up; make unstack stops it

  PostgreSQL   %s:%d, user %s, password in %s
  HDFS         hdfs://%s as %s; web %s
  HiveServer2  %s, auth %s, user %s, password in %s; web %s
  logs         %s

%s, with a source to fill in:

%s`, time.Since(begin).Seconds(),
		s.Postgres.Host, s.Postgres.Port, s.Postgres.User, s.Postgres.PasswordFile,
		s.HDFS.NameNode, s.HDFS.User, s.HDFS.WebHDFS,
		s.Hive.Instance, s.Hive.Auth, s.Hive.User, s.Hive.PasswordFile, s.Hive.Web,
		filepath.Join(s.Dir, "log"), file, text)
	return nil
}

// status prints a line a daemon; it is an error when one is not well.
func status(ctx context.Context, opt rig.Options, out io.Writer) error {
	s, err := rig.Attach(opt)
	if err != nil {
		return err
	}
	ill := 0
	for _, d := range s.Status(ctx) {
		word := "ready"
		if d.Err != nil {
			word = d.Err.Error()
			ill++
		}
		fmt.Fprintf(out, "%-12s %8d %5d MB  %s\n", d.Name, d.PID, d.Memory>>20, word)
	}
	if ill > 0 {
		return fmt.Errorf("%d daemons are not ready: make stack heals it", ill)
	}
	return nil
}

func env(opt rig.Options, out io.Writer) error {
	s, err := rig.Attach(opt)
	if err != nil {
		return err
	}
	for _, line := range s.Env() {
		fmt.Fprintln(out, line)
	}
	return nil
}

func referees(ctx context.Context, out io.Writer) error {
	root, err := rig.Root()
	if err != nil {
		return err
	}
	python, err := rig.Referees(ctx, root)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, python)
	return nil
}
