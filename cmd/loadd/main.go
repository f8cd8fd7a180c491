// Command loadd is the daemon: it does whatever work the ledger has. Any number may run, on any number of hosts, on
// one ledger; none is special, and killing any of them at any instant loses nothing and duplicates nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"
	_ "time/tzdata" // dates begin in a zone, also in a container without a zone database

	"github.com/loadctl/loadctl/cmd/internal/stop"
	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/pipeline"
)

func main() {
	polite, hard, release := stop.OnSignal()
	code := Main(polite, hard, os.Args[1:], os.Stderr)
	release()
	os.Exit(code)
}

// Main runs the daemon until polite ends, and what is in hand then is done or handed back; or until hard ends, and it is
// handed back at once. It returns the exit code.
func Main(polite, hard context.Context, args []string, stderr io.Writer) int {
	flags := flag.NewFlagSet("loadd", flag.ContinueOnError)
	flags.SetOutput(stderr)
	file := flags.String("config", "/etc/loadctl/loadd.yaml", "daemon file")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return pipeline.ExitOK
	} else if err != nil {
		return pipeline.ExitUsage // flag has printed it
	}
	if flags.NArg() > 0 {
		return report(stderr, fmt.Errorf("%w: loadd takes no argument, got %q", pipeline.ErrUsage, flags.Arg(0)))
	}
	if err := serve(polite, hard, *file, stderr); err != nil {
		return report(stderr, err)
	}
	return pipeline.ExitOK
}

// cleanEvery is how often the daemon looks for staged files that have been kept long enough.
const cleanEvery = time.Hour

// serve reads the configuration, wires, and works.
func serve(polite, hard context.Context, file string, stderr io.Writer) (err error) {
	cfg, err := config.Load(file)
	if err != nil {
		return fmt.Errorf("%w: %w", pipeline.ErrUsage, err)
	}
	log := logger(cfg.Daemon.Log, stderr)
	for _, w := range cfg.Warnings {
		log.Warn("configuration", "warning", w.String())
	}
	l, err := wire.Ledger(polite, cfg, log)
	if err != nil {
		return err
	}
	defer l.Close()
	env, closeEnv, err := wire.Env(polite, cfg, l, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeEnv()) }()
	env.Recovery.CleanEvery = cleanEvery
	log.Info("started", "config", file, "jobs", len(cfg.Jobs), "ledger", l.ID(), "workers", env.Limits.Workers)
	release := context.AfterFunc(polite, func() {
		log.Info("stopping: what is in hand is done or handed back", "grace", env.Timing.Grace)
	})
	defer release()
	engine := pipeline.Engine{Env: env}
	if err := engine.Run(polite, hard); err != nil {
		return err
	}
	log.Info("stopped")
	return nil
}

func logger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		level = slog.LevelInfo // config has refused every other word
	}
	opts := &slog.HandlerOptions{Level: level}
	if c.Format == config.LogJSON {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// report prints a fatal error in the words of loadctl and returns its exit code.
func report(w io.Writer, err error) int {
	c := pipeline.Classify(err)
	text := strings.TrimPrefix(err.Error(), pipeline.ErrUsage.Error()+": ")
	lines := strings.Split(text, "\n")
	fmt.Fprintf(w, "loadd: error: %s   [%s]\n", lines[0], c.Code)
	for _, l := range lines[1:] {
		fmt.Fprintf(w, "loadd:        %s\n", l)
	}
	if c.Hint != "" {
		fmt.Fprintf(w, "loadd: hint: %s\n", c.Hint)
	}
	return c.Exit
}
