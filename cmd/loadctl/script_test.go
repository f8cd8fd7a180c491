package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/loadctl/loadctl/cmd/internal/stop"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"loadctl": loadctl})
}

// transcript is the variable that names the file in which all output of a script's commands is kept.
const transcript = "TRANSCRIPT"

// loadctl is main, whose output is also kept, to look for secrets in it.
func loadctl() {
	kept, err := os.OpenFile(os.Getenv(transcript), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	polite, hard, release := stop.OnSignal()
	defer release()
	tell := make(chan os.Signal, 1)
	signal.Notify(tell, syscall.SIGUSR1)
	os.Exit(Main(polite, os.Args[1:], Process{
		In: os.Stdin, Out: io.MultiWriter(os.Stdout, kept), Err: io.MultiWriter(os.Stderr, kept), Getenv: os.Getenv, Hard: hard, Tell: tell,
	}))
}

// TestScripts runs each script of testdata with a ledger of its own.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			db := ledgertest.New(t)
			w := &world{db: db, empty: emptyDatabase(t, db.Cluster), transcript: filepath.Join(t.TempDir(), "transcript"), stories: map[string]*story{}}
			testscript.Run(t, testscript.Params{
				Files: []string{file}, Setup: w.setup, RequireUniqueNames: true,
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"story": w.story, "await": w.await, "giveback": w.giveBack, "silence": w.silence, "bury": w.bury, "fence": w.fence, "age": w.age, "signal": signalLast, "twins": w.twins, "exits": exits},
			})
			t.Cleanup(func() { w.findSecrets(t) }) // the script itself runs in parallel, after this function
		})
	}
}

// world is what one script works in.
type world struct {
	db         ledgertest.Database
	transcript string
	empty      string // name of a database that was not migrated
	stories    map[string]*story
	ledger     *ledger.Ledger
}

// oraclePassword is a secret that no output may hold.
const oraclePassword = "tiger-in-the-tank"

// setup writes a configuration, unless the script brings its own, and pins what output depends on.
func (w *world) setup(env *testscript.Env) error {
	env.Setenv("TZ", "Asia/Seoul")
	env.Setenv(transcript, w.transcript)
	env.Setenv("LEDGER_PASSWORD", w.db.Cluster.Password)
	env.Setenv("ORACLE_PASSWORD", oraclePassword)
	env.Setenv("DATABASE", w.db.Name)
	env.Setenv("EMPTY", w.empty)
	env.Setenv("PORT", strconv.Itoa(w.db.Cluster.Port))
	l, err := ledger.Open(context.Background(), ledger.Config{DSN: w.db.DSN, By: "story@host-a"})
	if err != nil {
		return err
	}
	w.ledger = l
	env.Defer(l.Close)
	if err := os.WriteFile(env.Getenv("WORK")+"/loadd.yaml", []byte(w.daemon(env.Getenv("WORK"))), 0o600); err != nil {
		return err
	}
	if err := os.MkdirAll(env.Getenv("WORK")+"/jobs", 0o700); err != nil {
		return err
	}
	for _, job := range []string{"INSP_DTL", "ORDERS"} {
		if err := os.WriteFile(fmt.Sprintf("%s/jobs/%s.yaml", env.Getenv("WORK"), strings.ToLower(job)), []byte(jobFile(job)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// daemon is a daemon file whose ledger is real and whose Oracle is a port that nobody listens on.
func (w *world) daemon(dir string) string {
	return fmt.Sprintf(`ledger:
  host: 127.0.0.1
  port: %d
  database: %s
  user: %s
  password: ${env:LEDGER_PASSWORD}
  sslmode: disable
  migrate:
    user: %s
    password: ${env:LEDGER_PASSWORD}
sources:
  core:
    host: 127.0.0.1
    port: 1
    service: core
    user: app_ro
    password: ${env:ORACLE_PASSWORD}
store:
  local:
    root: %s/store
warehouse:
  files:
    root: %s/warehouse
recovery:
  poll: 50ms
`, w.db.Cluster.Port, w.db.Name, ledgertest.Runtime, ledgertest.Owner, dir, dir)
}

func jobFile(name string) string {
	return fmt.Sprintf(`job: %s
source:
  name: core
  table: app.%s
  where: INSP_DT >= :date AND INSP_DT < :date + 1
timezone: Asia/Seoul
split:
  strategy: range
  column: SEQ
target:
  table: lake.%s
  partition:
    load_date: "{date}"
`, name, strings.ToLower(name), strings.ToLower(name))
}

// story drives a run of a job and date to a state: "story insp_dtl 2026-09-28 SUCCESS". A run that is under way goes on;
// one that is over is followed by a new one.
func (w *world) story(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: story JOB DATE STATE")
	}
	ctx := context.Background()
	name := args[0] + "/" + args[1]
	s := w.stories[name]
	if s != nil {
		run, err := w.ledger.Run(ctx, s.id())
		ts.Check(err)
		if !run.State.Active() {
			s = nil
		}
	}
	if s == nil {
		id, err := ledger.NewRunID()
		ts.Check(err)
		s, err = begin(ctx, w.ledger, args[0], args[1], id)
		ts.Check(err)
		w.stories[name] = s
	}
	if to := ledger.State(args[2]); to != ledger.Created {
		ts.Check(s.until(ctx, to))
	}
	ts.Setenv("RUN", s.id().String())
	ts.Setenv("SHORT", short(s.id()))
}

// giveBack has a worker claim a partition of a run and lose it in a way that may pass: "giveback JOB DATE".
func (w *world) giveBack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || w.stories[args[0]+"/"+args[1]] == nil {
		ts.Fatalf("usage: giveback JOB DATE, of a story")
	}
	s, ctx := w.stories[args[0]+"/"+args[1]], context.Background()
	ts.Check(s.claim(ctx))
	_, err := w.ledger.RetryPartition(ctx, s.last.Held, ledger.Lost{Class: "SHORT_STREAM", Message: "stream ended early", After: time.Hour, Counted: true})
	ts.Check(err)
}

// silence has a worker claim a partition of a run and not be heard of for an hour: "silence JOB DATE".
func (w *world) silence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || w.stories[args[0]+"/"+args[1]] == nil {
		ts.Fatalf("usage: silence JOB DATE, of a story")
	}
	s := w.stories[args[0]+"/"+args[1]]
	ts.Check(s.claim(context.Background()))
	w.change(ts, `UPDATE loadctl.load_partition SET heartbeat_at = heartbeat_at - interval '1 hour', lease_until = lease_until - interval '1 hour'
		WHERE run_id = $1 AND idx = $2`, s.last.Run, s.last.Partition)
}

// bury has the step that a run waits for fail until it is given up: "bury JOB DATE".
func (w *world) bury(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || w.stories[args[0]+"/"+args[1]] == nil {
		ts.Fatalf("usage: bury JOB DATE, of a story")
	}
	s, ctx := w.stories[args[0]+"/"+args[1]], context.Background()
	for range 100 {
		due, err := w.ledger.DueSteps(ctx, ledger.DueRequest{Run: s.run.ID, Limit: 1})
		ts.Check(err)
		if len(due) == 0 {
			return
		}
		ts.Check(s.own(ctx, due[0].Kind))
		ts.Check(w.ledger.ReleaseStep(ctx, s.hold, ledger.Later{Counted: true, Class: "UNREACHABLE", Message: "source core does not answer"}))
	}
	ts.Fatalf("the step is never given up")
}

// fence records that the publish of a run was shut out, what its target looks like, and a verdict: "fence JOB DATE VERDICT".
func (w *world) fence(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || w.stories[args[0]+"/"+args[1]] == nil {
		ts.Fatalf("usage: fence JOB DATE VERDICT, of a story")
	}
	s, ctx := w.stories[args[0]+"/"+args[1]], context.Background()
	ts.Check(w.ledger.RecordFence(ctx, s.hold, true, json.RawMessage(`{"how":"its session on host-h:10000 is closed"}`)))
	for range 2 {
		_, err := w.ledger.RecordObservation(ctx, s.hold, json.RawMessage(`{"files":1}`))
		ts.Check(err)
	}
	ts.Check(w.ledger.RecordVerdict(ctx, s.hold, ledger.Judgement{
		Verdict: ledger.Verdict(args[2]), Detail: json.RawMessage(`{"reason":"as the story wants it"}`),
	}))
}

// age lets runs that are over have ended a month ago.
func (w *world) age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: age")
	}
	w.change(ts, `UPDATE loadctl.load_run SET state_since = state_since - interval '30 days' WHERE NOT active`)
}

// change does to the ledger what only time does.
func (w *world) change(ts *testscript.TestScript, statement string, args ...any) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, w.db.Admin)
	ts.Check(err)
	_, err = conn.Exec(ctx, statement, args...)
	ts.Check(errors.Join(err, conn.Close(ctx)))
}

// await waits until the transcript holds a text, which a command in the background prints.
func (w *world) await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await TEXT")
	}
	ts.Check(awaitText(w.transcript, args[0]))
}

// twins makes two runs whose ids end alike: "twins JOB DATE JOB DATE".
func (w *world) twins(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: twins JOB DATE JOB DATE")
	}
	for ; len(args) > 0; args = args[2:] {
		id, err := ledger.NewRunID()
		ts.Check(err)
		copy(id[14:], []byte{0xab, 0xcd})
		_, err = begin(context.Background(), w.ledger, args[0], args[1], id)
		ts.Check(err)
	}
}

// exits runs a command that must end with an exit code: "exits 5 loadctl list".
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		code = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s exits with %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// signalLast signals the newest command in the background: "signal USR1".
func signalLast(ts *testscript.TestScript, neg bool, args []string) {
	running := ts.BackgroundCmds()
	if neg || len(args) != 1 || args[0] != "USR1" || len(running) == 0 {
		ts.Fatalf("usage: signal USR1, with a command in the background")
	}
	ts.Check(running[len(running)-1].Process.Signal(syscall.SIGUSR1))
}

// emptyDatabase makes a database that belongs to the migrating role and holds nothing.
func emptyDatabase(t *testing.T, c *ledgertest.Cluster) string {
	t.Helper()
	name := "e_" + strings.ToLower(rand.Text()[:12])
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, c.AdminDSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name+" OWNER "+ledgertest.Owner); err != nil {
		t.Fatal(err)
	}
	return name
}

// findSecrets looks for passwords in all that the script's commands printed.
func (w *world) findSecrets(t *testing.T) {
	t.Helper()
	printed, err := os.ReadFile(w.transcript)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{oraclePassword, w.db.Cluster.Password} {
		if strings.Contains(string(printed), secret) {
			t.Error("a password was printed")
		}
	}
}
