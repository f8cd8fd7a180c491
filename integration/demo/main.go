// Command demo shows the main job on this machine: it starts a stand-in for Oracle and a private PostgreSQL, writes the
// configuration that a person would write, and runs loadctl as a person would, while other sessions change the table
// that is being loaded. It ends with what landed, compared with what the table held at the run's SCN.
//
// By default the store and the warehouse are directories. With -stack hive they are real HDFS and Hive, started from
// Maven artifacts or found running (make stack).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/integration/scenario"
)

func main() {
	stack := flag.String("stack", "embedded", "embedded (directories) or hive (real HDFS and Hive)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := demo(ctx, *stack)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: error: %v\n", err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, stack string) (err error) {
	root, err := rig.Root()
	if err != nil {
		return err
	}
	d := &show{dir: filepath.Join(root, ".cache", "demo"), root: root}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	o := scenario.Options{Dir: d.dir}
	switch stack {
	case "embedded":
	case "hive":
		d.say("starting HDFS and Hive, or finding them warm (the first time this downloads and takes a few minutes)")
		if o.Stack, err = rig.Start(ctx, rig.Options{}); err != nil {
			return err
		}
	default:
		return fmt.Errorf("-stack %s: want embedded or hive", stack)
	}
	if err := d.build(ctx); err != nil {
		return err
	}
	if d.world, err = scenario.Start(ctx, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.world.Close()) }()
	return d.perform(ctx)
}

// show is one performance.
type show struct {
	dir, root string
	world     *scenario.World
}

func (d *show) say(format string, args ...any) { fmt.Printf("demo: "+format+"\n", args...) }

// build makes the real program, so that what is shown is what a person runs.
func (d *show) build(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", d.program(), "./cmd/loadctl")
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.root, os.Stdout, os.Stderr
	return cmd.Run()
}

func (d *show) program() string { return filepath.Join(d.dir, "loadctl") }

func (d *show) perform(ctx context.Context) error {
	w := d.world
	d.say("a stand-in for Oracle listens on %s; APP.INSP_DTL has %d rows for %s", w.Oracle.Addr(), scenario.Rows, scenario.Date)
	d.say("the ledger is a private PostgreSQL on port %d; configuration: %s", w.Ledger.Cluster.Port, w.Config)
	for _, args := range [][]string{
		{"migrate"},
		{"check", "--job", scenario.Job},
		{"plan", "--job", scenario.Job, "--date", scenario.Date},
	} {
		if err := d.loadctl(ctx, args...); err != nil {
			return err
		}
	}
	scn := strconv.FormatUint(w.Oracle.Database().Store().SCN(), 10)
	d.say("from here on, other sessions insert, update and delete in APP.INSP_DTL and commit")
	writers := w.StartWriters(1)
	start := time.Now()
	err := d.loadctl(ctx, "run", "--job", scenario.Job, "--date", scenario.Date, "--scn", scn)
	took := time.Since(start)
	commits, werr := writers.Stop()
	if err := errors.Join(err, werr); err != nil {
		return err
	}
	if err := d.loadctl(ctx, "status", scenario.Job+"/"+scenario.Date); err != nil {
		return err
	}
	return d.prove(ctx, scn, commits, took)
}

// prove compares the target with the table at the SCN.
func (d *show) prove(ctx context.Context, scn string, commits int64, took time.Duration) error {
	want, err := d.world.Image(scn)
	if err != nil {
		return err
	}
	got, err := d.world.TargetLines(ctx)
	if err != nil {
		return err
	}
	if diff := scenario.Difference(want, got); diff != "" {
		return fmt.Errorf("the target is not the table at SCN %s: %s", scn, diff)
	}
	d.say("%d transactions were committed in the table during the run (%.1f s); the target holds the table as of SCN %s: %d rows, each equal",
		commits, took.Seconds(), scn, len(got))
	if d.world.Stack == nil {
		d.say("the files: %s", d.world.TargetDir())
		return nil
	}
	d.say("the table: %s, through HiveServer2 on %s:%d (removed when the demo ends; make stack keeps the servers)",
		d.world.Target(), d.world.Stack.Hive.Host, d.world.Stack.Hive.Port)
	return nil
}

// loadctl shows a command line and runs it, with this terminal.
func (d *show) loadctl(ctx context.Context, args ...string) error {
	fmt.Printf("\n$ loadctl %s\n", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, d.program(), args...)
	cmd.Env = append(os.Environ(), "LOADCTL_CONFIG="+d.world.Config)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("loadctl %s: %w", args[0], err)
	}
	fmt.Println()
	return nil
}
