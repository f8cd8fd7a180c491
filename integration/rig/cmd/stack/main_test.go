package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/integration/rig"
)

func TestBadUseIsRefused(t *testing.T) {
	for _, args := range [][]string{{}, {"up", "down"}, {"-nonsense", "up"}} {
		var out, errs bytes.Buffer
		if err := run(t.Context(), args, &out, &errs); err == nil || !strings.Contains(errs.String(), "usage: stack") {
			t.Errorf("%q: got %v and %q, want the usage", args, err, errs.String())
		}
	}
	var out bytes.Buffer
	err := run(t.Context(), []string{"start"}, &out, &out)
	if err == nil || errors.Is(err, flag.ErrHelp) || !strings.Contains(err.Error(), `"start"`) {
		t.Errorf("unknown verb: got %v, want an error that names it", err)
	}
}

func TestUpPrintsADaemonFileThatLoads(t *testing.T) {
	stack := rig.Shared(t)
	var out, log bytes.Buffer
	if err := run(t.Context(), []string{"up"}, &out, &log); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{stack.HDFS.NameNode, stack.Hive.Instance, stack.Postgres.PasswordFile} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("up does not print %s:\n%s", want, out.String())
		}
	}
	for _, secret := range []string{stack.Postgres.Password, stack.Hive.Password} {
		if strings.Contains(out.String()+log.String(), secret) {
			t.Error("up prints a password")
		}
	}
	loaded, err := config.Load(stack.Dir + "/loadd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	password, err := loaded.Daemon.Warehouse.Hive.Password.Reveal()
	if err != nil || password != stack.Hive.Password {
		t.Errorf("the daemon file's password of Hive is not the stack's: %v", err)
	}
}

func TestStatusAndEnvOfARunningStack(t *testing.T) {
	stack := rig.Shared(t)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"status"}, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "ready\n"); n != 4 {
		t.Errorf("status shows %d daemons ready, want 4:\n%s", n, out.String())
	}
	out.Reset()
	if err := run(t.Context(), []string{"env"}, &out, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if want := "RIG_NAMENODE=" + stack.HDFS.NameNode + "\n"; !strings.Contains(out.String(), want) {
		t.Errorf("env lacks %q:\n%s", want, out.String())
	}
	err := run(t.Context(), []string{"-timezone", "Europe/Moscow", "env"}, &out, os.Stderr)
	if !errors.Is(err, rig.ErrDown) {
		t.Errorf("env of a stack that is down: got %v, want %v", err, rig.ErrDown)
	}
}
