// Command orasim runs the Oracle stand-in until SIGTERM or an interrupt.
//
//	orasim --seed app.sql --user app --password-env APP_PASSWORD
//	orasim --demo
//
// With --demo it has the user demo with a small table, and prints a line of Python that reads it.
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
	"github.com/loadctl/loadctl/integration/orasim/wire"
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
	demo, faults, verbose                    bool
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
	f.BoolVar(&o.demo, "demo", false, "make the user demo, password demo, with a table INSPECTION")
	f.BoolVar(&o.faults, "faults", false, "let statements break things by comments such as /*orasim error code=1555 row=100*/")
	f.BoolVar(&o.verbose, "verbose", false, "log sessions and statements")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	var err error
	switch {
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.demo && (o.user != "" || o.seed != ""):
		err = errors.New("--demo makes its own user and tables: leave out --user and --seed")
	}
	if err != nil {
		fmt.Fprintln(stderr, "orasim:", err)
	}
	return o, err
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
	if err := serve(ctx, cfg, o.demo, stdout); err != nil {
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
		Wire:     wire.Config{CommentFaults: o.faults},
		User:     o.user,
		Log:      slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level})),
	}
	if o.demo {
		cfg.User, cfg.Password, cfg.Seed = demoUser, demoPassword, demoSeed
		return cfg, nil
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
func serve(ctx context.Context, cfg orasim.Config, demo bool, stdout io.Writer) error {
	s, err := orasim.Start(cfg)
	if err != nil {
		return err
	}
	user := cfg.User
	if user == "" {
		user = "SYSTEM"
	}
	fmt.Fprintf(stdout, "listening on %s\n%s\n", s.Addr(), s.URL(user, ""))
	if demo {
		fmt.Fprintln(stdout, demoLine(s.Addr(), s.Service()))
	}
	<-ctx.Done()
	return s.Close()
}
