package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/integration/orasim/wire"
	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

// worker is a loadctl in the background.
type worker struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer // to be read after wait
}

func startWorker(t *testing.T, w *scenario.World, args ...string) *worker {
	t.Helper()
	p := &worker{cmd: command(t, w, args...)}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// wait returns what the worker printed and its exit code; -1 when it was killed.
func (p *worker) wait(t *testing.T) output {
	t.Helper()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return output{p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
}

func (p *worker) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// inMidRead starts a run and returns when Oracle has sent the first rows of one partition and keeps the rest back.
func inMidRead(t *testing.T, w *scenario.World, kind wire.FaultKind) (*worker, *wire.Armed) {
	t.Helper()
	held := w.Oracle.Faults().Set(wire.Fault{Kind: kind, AtRow: 50, Times: 1, Match: wire.Match{User: scenario.Reader, SQL: `"SEQ" >= 151 `}})
	p := startWorker(t, w, "run", "--job", scenario.Job, "--date", scenario.Date)
	select {
	case <-held.Hit():
	case <-time.After(time.Minute):
		t.Fatal("the fault did not strike: the test shows nothing")
	}
	return p, held
}

// wantVerified checks that a command has driven the newest run to its end, and that the target is the table at its SCN.
func wantVerified(t *testing.T, w *scenario.World, got output) ledger.Run {
	t.Helper()
	run := latest(t, w)
	if got.code != 0 || run.State != ledger.Success || !strings.Contains(got.stdout, "verified "+run.Handle()) {
		t.Fatalf("the run is %s, want SUCCESS: %s", run.State, got)
	}
	wantTarget(t, w, run.SCN)
	wantLegalLedger(t, w)
	return run
}

// events are the codes of what happened to a run.
func eventCodes(t *testing.T, w *scenario.World, run ledger.Run) string {
	t.Helper()
	entries, err := open(t, w).Events(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	var codes []string
	for _, e := range entries {
		codes = append(codes, e.Code)
	}
	return strings.Join(codes, " ")
}

// TestResumeAfterKill: a run whose process was killed in the middle of a partition is taken over and ends.
func TestResumeAfterKill(t *testing.T) {
	t.Parallel()
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	first, held := inMidRead(t, w, wire.FaultStall)
	first.signal(t, syscall.SIGKILL)
	if got := first.wait(t); got.code != -1 {
		t.Fatalf("the killed process ended by itself: %s", got)
	}
	held.Release()
	killed := latest(t, w)
	if killed.State != ledger.Extracting {
		t.Fatalf("the killed run is %s, want EXTRACTING", killed.State)
	}
	run := wantVerified(t, w, loadctl(t, w, "resume", killed.Short()))
	if run.ID != killed.ID || run.SCN != killed.SCN {
		t.Errorf("run %s at SCN %s ended, %s at %s was killed", run.ID, run.SCN, killed.ID, killed.SCN)
	}
	if codes := eventCodes(t, w, run); !strings.Contains(codes, "REISSUED") {
		t.Errorf("no partition was sent again: %s", codes)
	}
}

// TestRevivedWorkerIsRefused stops a process with SIGSTOP for longer than its leases, lets another one end the run, and
// revives it.
func TestRevivedWorkerIsRefused(t *testing.T) {
	t.Parallel()
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	first, held := inMidRead(t, w, wire.FaultStall)
	first.signal(t, syscall.SIGSTOP)
	run := wantVerified(t, w, loadctl(t, w, "resume", latest(t, w).Short()))
	if codes := eventCodes(t, w, run); !strings.Contains(codes, "REISSUED") {
		t.Errorf("no partition was taken from the stopped process: %s", codes)
	}
	held.Release()
	first.signal(t, syscall.SIGCONT)
	got := first.wait(t)
	if !strings.Contains(got.stderr, "partition dropped") {
		t.Errorf("the revived process was not told that its partition is another's: %s", got)
	}
	wantVerified(t, w, got)
}

// TestCancelWhileReading: the worker breaks off its query and ends within seconds, although Oracle computes on.
func TestCancelWhileReading(t *testing.T) {
	t.Parallel()
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	first, held := inMidRead(t, w, wire.FaultHold)
	defer held.Release()
	asked := time.Now()
	got := loadctl(t, w, "cancel", "latest", "--reason", "not needed", "--yes")
	if got.code != 0 || !strings.Contains(got.stdout, "stopped: p") {
		t.Fatalf("cancel: %s", got)
	}
	got = first.wait(t)
	if took := time.Since(asked); took > 15*time.Second {
		t.Errorf("the worker ended after %s", took)
	}
	if got.code != pipeline.ExitFailed || !strings.Contains(got.stderr, "CANCELLED: not needed   [CANCELLED]") {
		t.Errorf("the worker: %s", got)
	}
	if run := latest(t, w); run.State != ledger.Cancelled {
		t.Errorf("run is %s, want CANCELLED", run.State)
	}
	if _, err := os.Stat(w.TargetDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target of a cancelled first run: %v, want none", err)
	}
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != 0 {
		t.Errorf("a new run: %s", got)
	}
}

// TestTwoShareARun: two processes attached to one run both read partitions of it.
func TestTwoShareARun(t *testing.T) {
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date, "--detach"); got.code != 0 {
		t.Fatalf("run --detach: %s", got)
	}
	// No partition ends before both have claimed one. The four workers of one process leave two of six sessions to the other.
	w.Oracle.Faults().Set(wire.Fault{Kind: wire.FaultStall, AtRow: 50, Match: wire.Match{User: scenario.Reader, SQL: `"SEQ" >= `}})
	both := [2]*worker{startWorker(t, w, "run", "--attach", "latest"), startWorker(t, w, "resume", "latest")}
	awaitReaders(t, w, 2)
	w.Oracle.Faults().Clear()
	for _, p := range both {
		wantVerified(t, w, p.wait(t))
	}
	partitions, err := open(t, w).Partitions(t.Context(), latest(t, w).ID)
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	for _, p := range partitions {
		if p.Attempts != 1 {
			t.Errorf("partition %d took %d attempts", p.Index, p.Attempts)
		}
		read[p.Worker]++
	}
	if len(read) != 2 {
		t.Errorf("partitions were read by %v, want two processes", read)
	}
}

// awaitReaders returns when so many processes read partitions of the newest run.
func awaitReaders(t *testing.T, w *scenario.World, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l, run := open(t, w), latest(t, w)
	watch := l.Watch(ctx)
	defer watch.Close()
	for ctx.Err() == nil {
		partitions, err := l.Partitions(ctx, run.ID)
		if err != nil {
			t.Fatal(err)
		}
		readers := map[string]bool{}
		for _, p := range partitions {
			if p.State == ledger.PartitionRunning {
				readers[p.Worker] = true
			}
		}
		if len(readers) >= n {
			return
		}
		watch.Next(ctx)
	}
	t.Fatalf("%d processes never read at the same time", n)
}

// lostAnswer is a warehouse whose first publish is told to be of unknown outcome, whether it was done or not.
type lostAnswer struct {
	publish.Warehouse
	done bool
	once *sync.Once
}

func (l *lostAnswer) Open(ctx context.Context, tag string) (publish.Session, error) {
	s, err := l.Warehouse.Open(ctx, tag)
	return &lostSession{s, l}, err
}

type lostSession struct {
	publish.Session
	of *lostAnswer
}

func (s *lostSession) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (res publish.Result, err error) {
	lost := false
	s.of.once.Do(func() { lost = true })
	if !lost || s.of.done {
		res, err = s.Session.Publish(ctx, p, report)
	}
	if lost {
		return publish.Result{}, errors.Join(publish.ErrUnknown, err)
	}
	return res, err
}

// publishInDoubt drives a run to PUBLISH_UNKNOWN, its statement done or not.
func publishInDoubt(t *testing.T, w *scenario.World, done bool) ledger.Run {
	t.Helper()
	env := newEnv(t, w)
	env.Warehouse = &lostAnswer{env.Warehouse, done, new(sync.Once)}
	run := runJob(t, env, w.Job(), pipeline.Submission{By: "test@here"})
	if run.State != ledger.PublishUnknown {
		t.Fatalf("run is %s, want PUBLISH_UNKNOWN", run.State)
	}
	return run
}

// reconcileIt runs loadctl reconcile and checks the verdict and the command that it advises.
func reconcileIt(t *testing.T, w *scenario.World, run ledger.Run, verdict, advice string) {
	t.Helper()
	got := loadctl(t, w, "reconcile", run.Short(), "--settle", "200ms")
	for _, want := range []string{"\nverdict  " + verdict + ": ", "\nobserved ", "fenced   its session on ", "loadctl resolve " + run.Short() + " --as " + advice} {
		if got.code != 0 || !strings.Contains("\n"+got.stdout, want) {
			t.Fatalf("reconcile: no %q in %s", want, got)
		}
	}
}

// TestDoubtIsResolvedApplied: reconcile finds that the lost publish was done; resolve and resume end the run; verify
// finds what was published, until somebody changes it; the staged files go, and the target stays.
func TestDoubtIsResolvedApplied(t *testing.T) {
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	run := publishInDoubt(t, w, true)
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != pipeline.ExitDuplicate || !strings.Contains(got.stderr, "loadctl reconcile "+run.Short()) {
		t.Errorf("a second run: %s", got)
	}
	reconcileIt(t, w, run, "APPLIED", "published")
	if got := loadctl(t, w, "resolve", run.Short(), "--as", "published", "--reason", "it is there", "--yes"); got.code != 0 || !strings.Contains(got.stdout, "is    PUBLISHED: it is there") {
		t.Fatalf("resolve: %s", got)
	}
	wantVerified(t, w, loadctl(t, w, "resume", run.Short()))

	verify := []string{"verify", "--job", scenario.Job, "--date", scenario.Date}
	if got := loadctl(t, w, verify...); got.code != 0 || !strings.Contains(got.stdout, "holds    lake.insp_dtl/load_date="+scenario.Date+" is what "+run.Handle()) {
		t.Errorf("verify: %s", got)
	}
	cleanUp(t, w, run)
	if got := loadctl(t, w, verify...); got.code != 0 {
		t.Errorf("verify after clean: %s", got)
	}
	files, err := filepath.Glob(filepath.Join(w.TargetDir(), "*.parquet"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files of the target: %v, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if got := loadctl(t, w, verify...); got.code != pipeline.ExitFailed || !strings.Contains(got.stderr, "1 gone") || !strings.Contains(got.stderr, "[MISMATCH]") {
		t.Errorf("verify of a target without one file: %s", got)
	}
}

// cleanUp has the run have ended long ago, and cleans.
func cleanUp(t *testing.T, w *scenario.World, run ledger.Run) {
	t.Helper()
	staged := filepath.Join(w.Dir, "store", run.Job, "run_id="+run.ID.String())
	if _, err := os.Stat(staged); err != nil {
		t.Fatalf("the run's directory before clean: %v", err)
	}
	asAdmin(t, w, `UPDATE loadctl.load_run SET state_since = state_since - interval '30 days' WHERE NOT active`)
	if got := loadctl(t, w, "clean", "--reason", "the test is over", "--yes"); got.code != 0 || !strings.Contains(got.stdout, run.Short()+"  deleted") {
		t.Errorf("clean: %s", got)
	}
	if _, err := os.Stat(staged); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the run's directory after clean: %v, want none", err)
	}
}

// asAdmin does to the ledger what only time and misfortune do.
func asAdmin(t *testing.T, w *scenario.World, statement string, args ...any) {
	t.Helper()
	conn, err := w.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), statement, args...)
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// TestDoubtIsRepublished: reconcile finds that nothing was done, and the sealed data is published by a person's word.
func TestDoubtIsRepublished(t *testing.T) {
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	run := publishInDoubt(t, w, false)
	if got := loadctl(t, w, "resolve", run.Short(), "--as", "republish", "--reason", "x", "--yes"); got.code != pipeline.ExitFailed || !strings.Contains(got.stderr, "not fenced") {
		t.Errorf("resolve before reconcile: %s", got)
	}
	reconcileIt(t, w, run, "NOT_APPLIED", "failed")
	if got := loadctl(t, w, "resolve", run.Short(), "--as", "republish", "--reason", "it did nothing", "--yes"); got.code != 0 {
		t.Fatalf("resolve: %s", got)
	}
	if now := wantVerified(t, w, loadctl(t, w, "resume", run.Short())); now.PublishAttempt != 2 {
		t.Errorf("published in attempt %d, want 2", now.PublishAttempt)
	}
	if got := loadctl(t, w, "status", run.Short()); !strings.Contains(got.stdout, "publish 1  resolved as republish") {
		t.Errorf("status: %s", got)
	}
}

// TestLedgerThatLostARun: a restored ledger does not know a run that has published; the mark in the store tells.
func TestLedgerThatLostARun(t *testing.T) {
	w := startWorld(t, "embedded", scenario.Options{Few: true})
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != 0 {
		t.Fatalf("run: %s", got)
	}
	run := latest(t, w)
	lost := uuid.Must(uuid.NewV7()).String()
	dir := filepath.Join(w.Dir, "store", run.Job)
	mark, err := os.ReadFile(filepath.Join(dir, "run_id="+run.ID.String(), "_PUBLISH.1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "run_id="+lost), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "run_id="+lost, "_PUBLISH.1"), strings.ReplaceAll(string(mark), run.ID.String(), lost))
	if err := open(t, w).Distrust(t.Context(), "op@here", "its disk was set back"); err != nil {
		t.Fatal(err)
	}

	if got := loadctl(t, w, "clean", "--dry-run"); got.code != pipeline.ExitFailed || !strings.Contains(got.stderr, "[LEDGER_TIMELINE]") || !strings.Contains(got.stderr, "reconcile --ledger") {
		t.Errorf("clean before the comparison: %s", got)
	}
	got := loadctl(t, w, "reconcile", "--ledger", "--settle", "100ms")
	for _, want := range []string{"compared before on none", "2 marks in the store: 0 newer than the ledger, 1 of runs", fmt.Sprintf("run_id=%s/_PUBLISH.1", lost)} {
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("reconcile --ledger: no %q in %s", want, got)
		}
	}
	if got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date); got.code != 0 {
		t.Errorf("a run after the comparison: %s", got)
	}
}
