package main

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/rig"
)

// TestDemo runs the line that --demo prints, as a person would.
func TestDemo(t *testing.T) {
	python := rig.Python(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, stdout := io.Pipe()
	exit := make(chan int, 1)
	go func() {
		exit <- run(ctx, []string{"--demo"}, stdout, t.Output())
		_ = stdout.Close()
	}()
	var line string
	for lines := bufio.NewScanner(out); !strings.HasPrefix(line, "python3 "); line = lines.Text() {
		if !lines.Scan() {
			t.Fatalf("no line of Python; the last was %q", line)
		}
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", strings.Replace(line, "python3", python, 1))
	got, err := cmd.CombinedOutput()
	want := "[(1000, 625625, datetime.datetime(2026, 9, 1, 16, 40))]"
	if strings.TrimSpace(string(got)) != want {
		t.Errorf("%s\ngot %s (%v), want %s", line, got, err, want)
	}
	stop()
	if code := <-exit; code != exitOK {
		t.Errorf("exit code %d, want %d", code, exitOK)
	}
}
