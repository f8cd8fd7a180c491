// Command orasim runs the Oracle stand-in until SIGTERM or an interrupt.
//
//	orasim --seed demo.sql --user app --password-env APP_PASSWORD
//
// It prints the address and a go-ora URL without the password on standard output, one a line, once it accepts
// connections; its log goes to standard error.
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
	"syscall"

	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/sql"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are the command line.
type options struct {
	listen, service, seed, user, passwordEnv string
	verbose                                  bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("orasim", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on; port 0 picks a free one")
	f.StringVar(&o.service, "service", "ORASIMPDB1", "service name to serve")
	f.StringVar(&o.seed, "seed", "", "SQL script that SYS runs first; statements end with ; or a line with /")
	f.StringVar(&o.user, "user", "", "user to create, with the role DBA")
	f.StringVar(&o.passwordEnv, "password-env", "ORASIM_PASSWORD", "environment variable that holds the user's password")
	f.BoolVar(&o.verbose, "verbose", false, "log sessions and statements")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", f.Arg(0))
		fmt.Fprintln(stderr, "orasim:", err)
		return o, err
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		return exitUsage
	}
	cfg, err := o.config(stderr)
	if err != nil {
		fmt.Fprintln(stderr, "orasim:", err)
		return exitUsage
	}
	if err := serve(ctx, cfg, stdout); err != nil {
		fmt.Fprintln(stderr, "orasim:", err)
		return exitError
	}
	return exitOK
}

func (o options) config(stderr io.Writer) (orasim.Config, error) {
	level := slog.LevelWarn
	if o.verbose {
		level = slog.LevelDebug
	}
	cfg := orasim.Config{
		Listen:   o.listen,
		Database: sql.Config{Services: []string{o.service}},
		User:     o.user,
		Log:      slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})),
	}
	if o.user != "" {
		if cfg.Password = os.Getenv(o.passwordEnv); cfg.Password == "" {
			return cfg, fmt.Errorf("no password for user %s: set the environment variable %s", o.user, o.passwordEnv)
		}
	}
	if o.seed != "" {
		script, err := os.ReadFile(o.seed)
		if err != nil {
			return cfg, fmt.Errorf("read seed script: %w", err)
		}
		cfg.Seed = string(script)
	}
	return cfg, nil
}

// serve runs a server until ctx ends.
func serve(ctx context.Context, cfg orasim.Config, stdout io.Writer) error {
	s, err := orasim.Start(cfg)
	if err != nil {
		return err
	}
	user := cfg.User
	if user == "" {
		user = "SYSTEM"
	}
	fmt.Fprintf(stdout, "listening on %s\n%s\n", s.Addr(), s.URL(user, ""))
	<-ctx.Done()
	return s.Close()
}
