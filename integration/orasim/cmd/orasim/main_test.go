package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/sijms/go-ora/v2"
)

func TestServesUntilStopped(t *testing.T) {
	seed := filepath.Join(t.TempDir(), "seed.sql")
	if err := os.WriteFile(seed, []byte("CREATE TABLE demo.t (n NUMBER);\nINSERT INTO demo.t VALUES (42);\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DEMO_PASSWORD", "se-cret")
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	out, stdout := io.Pipe()
	var stderr bytes.Buffer
	exit := make(chan int, 1)
	go func() {
		exit <- run(ctx, []string{"--service", "DEMO", "--seed", seed, "--user", "demo", "--password-env", "DEMO_PASSWORD"}, stdout, &stderr)
		_ = stdout.Close()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "listening on 127.0.0.1:") || !lines.Scan() {
		t.Fatalf("got %q, %s", lines.Text(), stderr.String())
	}
	u, err := url.Parse(lines.Text())
	if err != nil || strings.Contains(lines.Text(), "se-cret") {
		t.Fatalf("URL %q: %v", lines.Text(), err)
	}
	u.User = url.UserPassword(u.User.Username(), "se-cret")
	db, err := sql.Open("oracle", u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var n int
	if err := db.QueryRow("SELECT n FROM t").Scan(&n); err != nil || n != 42 {
		t.Errorf("got %d and %v, want 42", n, err)
	}
	stop()
	if code := <-exit; code != exitOK {
		t.Errorf("exit code %d, want %d: %s", code, exitOK, stderr.String())
	}
}

func TestBadCommandLines(t *testing.T) {
	t.Setenv("EMPTY", "")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--nosuch"}, exitUsage, "nosuch"},
		{[]string{"extra"}, exitUsage, `unexpected argument "extra"`},
		{[]string{"--user", "x", "--password-env", "EMPTY"}, exitUsage, "set the environment variable EMPTY"},
		{[]string{"--demo", "--user", "x"}, exitUsage, "leave out --user"},
		{[]string{"--seed", "nosuch.sql"}, exitUsage, "nosuch.sql"},
		{[]string{"--listen", "nowhere"}, exitError, "nowhere"},
		{[]string{"--help"}, exitOK, "-listen"},
	} {
		var stderr bytes.Buffer
		if code := run(context.Background(), c.args, io.Discard, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: got code %d and %q, want %d and %q", c.args, code, stderr.String(), c.code, c.want)
		}
	}
}
