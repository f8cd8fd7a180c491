package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/loadctl/loadctl/ledger/ledgertest"
	"github.com/loadctl/loadctl/pipeline"
)

const password = "LOADD_TEST_PASSWORD"

// daemonFile writes a configuration whose ledger is real and whose Oracle is not there.
func daemonFile(t *testing.T, db ledgertest.Database) string {
	t.Helper()
	t.Setenv(password, db.Cluster.Password)
	dir := t.TempDir()
	name := filepath.Join(dir, "loadd.yaml")
	text := fmt.Sprintf(`ledger: {host: 127.0.0.1, port: %d, database: %s, user: %s, password: "${env:%[4]s}", sslmode: disable}
sources:
  core: {host: 127.0.0.1, port: 1, service: core, user: app_ro, password: "${env:%[4]s}"}
store: {local: {root: %[5]s/store}}
warehouse: {files: {root: %[5]s/warehouse}}
recovery: {poll: 50ms}
`, db.Cluster.Port, db.Name, ledgertest.Runtime, password, dir)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestDaemonStopsPolitely: it says that it is up, works until it is asked to stop, and leaves nothing running.
func TestDaemonStopsPolitely(t *testing.T) {
	db := ledgertest.New(t)
	file := daemonFile(t, db)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	polite, stop := context.WithCancel(t.Context())
	defer stop()
	log, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- Main(polite, t.Context(), []string{"--config", file}, w)
		w.Close()
	}()
	var printed []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		printed = append(printed, lines.Text())
		if strings.Contains(lines.Text(), "msg=started") {
			stop()
		}
	}
	all := strings.Join(printed, "\n")
	if got := <-code; got != pipeline.ExitOK || !strings.Contains(all, `msg="stopping`) || !strings.Contains(all, "msg=stopped") {
		t.Errorf("exit %d, log:\n%s", got, all)
	}
	if strings.Contains(all, db.Cluster.Password) {
		t.Error("the log holds the password")
	}
}

func TestDaemonRefusesToStart(t *testing.T) {
	db := ledgertest.New(t)
	for name, c := range map[string]struct {
		args  []string
		spoil func(file string)
		exit  int
		says  string
	}{
		"no file":     {args: []string{"--config", "nowhere.yaml"}, exit: pipeline.ExitUsage, says: "nowhere.yaml"},
		"argument":    {args: []string{"start"}, exit: pipeline.ExitUsage, says: `"start"`},
		"flag":        {args: []string{"--conf", "x"}, exit: pipeline.ExitUsage, says: "conf"},
		"ledger away": {spoil: replace(fmt.Sprintf("port: %d", db.Cluster.Port), "port: 1"), exit: pipeline.ExitUnreachable, says: "127.0.0.1:1"},
		"bad key":     {spoil: replace("recovery:", "recovry:"), exit: pipeline.ExitUsage, says: "recovery"},
	} {
		t.Run(name, func(t *testing.T) {
			args := c.args
			if args == nil {
				file := daemonFile(t, db)
				c.spoil(file)
				args = []string{"--config", file}
			}
			var b bytes.Buffer
			if code := Main(t.Context(), t.Context(), args, &b); code != c.exit || !strings.Contains(b.String(), c.says) {
				t.Errorf("exit %d, want %d; stderr:\n%s", code, c.exit, b.String())
			}
		})
	}
}

// replace edits a file. A text that is not there would make the case prove nothing.
func replace(old, new string) func(string) {
	return func(file string) {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), old) {
			panic(fmt.Sprintf("%s: no %q (%v)", file, old, err))
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, new, 1)), 0o600); err != nil {
			panic(err)
		}
	}
}
