package rig

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell launches a shell script that is killed with all its children at the test's end.
func shell(t *testing.T, script string) process {
	t.Helper()
	p, err := launch(command{path: "/bin/sh", args: []string{"-c", script}, env: daemonEnv(), dir: t.TempDir()}, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(context.Background(), syscall.SIGKILL, killPatience) })
	return p
}

func eventually(t *testing.T, what string, probe func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := poll(ctx, time.Millisecond, probe); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestZombieIsDead(t *testing.T) {
	p := shell(t, "exit 3")
	eventually(t, "an ended child", func() error {
		if p.alive() {
			return errors.New("still alive")
		}
		return nil
	})
}

func TestAnotherProcessWithTheSameIDIsNotOurs(t *testing.T) {
	p := shell(t, "sleep 60")
	if !p.alive() {
		t.Fatal("a running process counts as dead")
	}
	earlier := process{PID: p.PID, Started: p.Started - 1}
	if earlier.alive() {
		t.Fatal("a process that started at another time counts as ours")
	}
	if err := earlier.stop(t.Context(), syscall.SIGKILL, time.Second); err != nil {
		t.Fatal(err)
	}
	if !p.alive() {
		t.Fatal("stopping a process that is gone killed the one that has its id now")
	}
}

func TestStopEndsAProcessThatIgnoresTheSignal(t *testing.T) {
	p := shell(t, "trap '' TERM; echo ready; sleep 60 & wait; sleep 60")
	var children []int
	eventually(t, "child", func() error {
		if children = descendants(p.PID); len(children) == 0 {
			return errors.New("none yet")
		}
		return nil
	})
	child, err := processOf(children[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := p.stop(t.Context(), syscall.SIGTERM, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if p.alive() {
		t.Fatal("alive after stop")
	}
	eventually(t, "child of the stopped", func() error {
		if child.alive() {
			return errors.New("alive")
		}
		return nil
	})
}

func TestPausedProcessIsAliveAndStops(t *testing.T) {
	p := shell(t, "sleep 60")
	if err := p.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pause", func() error {
		if !p.paused() {
			return errors.New("not stopped yet")
		}
		return nil
	})
	if !p.alive() {
		t.Fatal("a paused process counts as dead")
	}
	begin := time.Now()
	if err := p.stop(t.Context(), syscall.SIGTERM, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if spent := time.Since(begin); spent > 5*time.Second {
		t.Fatalf("stop waited %s for a process that had to be woken", spent)
	}
	if err := p.signal(syscall.SIGSTOP); !errors.Is(err, os.ErrProcessDone) {
		t.Fatalf("signal to an ended process: got %v, want %v", err, os.ErrProcessDone)
	}
}

func TestReadStatOfAnOddName(t *testing.T) {
	script := filepath.Join(t.TempDir(), "a) S 1 (b")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nsleep 60 & wait\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := launch(command{path: script, env: daemonEnv(), dir: t.TempDir()}, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(context.Background(), syscall.SIGKILL, killPatience) })
	st, err := readStat(p.PID)
	if err != nil || st.parent != os.Getpid() {
		t.Fatalf("got %+v, %v; want parent %d", st, err, os.Getpid())
	}
}

func TestRunErrorEndsWithTheLog(t *testing.T) {
	err := run(t.Context(), command{path: "/bin/sh", args: []string{"-c", "echo the reason; exit 1"}, env: daemonEnv()}, filepath.Join(t.TempDir(), "log"))
	if err == nil || !strings.Contains(err.Error(), "the reason") {
		t.Fatalf("got %v, want the log's end", err)
	}
}
