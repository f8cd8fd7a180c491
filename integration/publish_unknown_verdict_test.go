package integration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

// targetFiles lists the files of the target's partition, and needs two at least.
func (b *bench) targetFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(b.TargetDir(), "*.parquet"))
	if err != nil || len(names) == 0 {
		t.Fatalf("the target has the files %v, %v", names, err)
	}
	return names
}

// half leaves a target as a statement does that is cut off in its move: a file of before is gone, one of ours is there.
func (b *bench) half(t *testing.T) sender {
	return func(_ context.Context, _ publish.Session, p publish.Publication, _ func(publish.Progress)) (publish.Result, error) {
		old := b.targetFiles(t)
		staged, err := filepath.Glob(filepath.Join(strings.TrimPrefix(p.Staging.Location, "file://"), "*.parquet"))
		if err != nil || len(staged) == 0 {
			return publish.Result{}, errors.Join(err, errors.New("nothing is staged"))
		}
		content, err := os.ReadFile(staged[0])
		if err == nil {
			err = os.WriteFile(filepath.Join(b.TargetDir(), "part-of-ours.parquet"), content, 0o644)
		}
		return publish.Result{}, errors.Join(publish.ErrUnknown, err, os.Remove(old[0]))
	}
}

// TestDamagedTarget: the statement was cut off in its move. No end of the run may hide that, and to publish again mends it.
func TestDamagedTarget(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, b.half(t))
	found := reconcile(t, b.env, run, publish.Damaged)
	if !found.Run.TargetDamaged {
		t.Error("the run does not say that its target is damaged")
	}
	var refused *ledger.ResolveError
	if _, err := b.env.Resolve(t.Context(), run.ID, ledger.Resolution{As: ledger.AsPublished, Reason: "it looks fine", By: "operator@here"}); !errors.As(err, &refused) {
		t.Errorf("resolved as published over damage: %v, want a refusal", err)
	}
	if found, err := b.env.Prove(t.Context(), run.ID, byOperator); err != nil || found.Run.State != ledger.PublishUnknown {
		t.Errorf("proof alone made the run %s, %v: damage is for a person", found.Run.State, err)
	}
	// The second attempt is proved to have done nothing, but the target still is damaged by the first.
	resolve(t, b.env, run, ledger.AsRepublish)
	b.out.send = unsent
	run = drive(t, b.env, run.ID)
	b.out.send = nil
	wantState(t, run, ledger.PublishUnknown)
	reconcile(t, b.env, run, publish.NotApplied)
	run = resolve(t, b.env, run, ledger.AsFailed)
	if wantState(t, run, ledger.FailedPublish); run.TargetOutcome != ledger.TargetDamaged {
		t.Errorf("the target is %s, want damaged: it was, by the first attempt", run.TargetOutcome)
	}
	next := runJob(t, b.env, b.Job(), pipeline.Submission{})
	wantState(t, next, ledger.Success)
	wantTarget(t, b.World, next.SCN)
	if run, err := b.env.Ledger.Run(t.Context(), run.ID); err != nil || run.TargetDamaged {
		t.Errorf("damaged after the next run of the key has succeeded: %v, %v", run.TargetDamaged, err)
	}
}

// TestConflictingTarget: the statement was applied, and somebody else has written the target since.
func TestConflictingTarget(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, lost)
	name := b.targetFiles(t)[0]
	content, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(filepath.Join(b.TargetDir(), "somebody-else.parquet"), content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	reconcile(t, b.env, run, publish.Conflict)
	if _, err := b.env.Resolve(t.Context(), run.ID, ledger.Resolution{As: ledger.AsRepublish, Reason: "again", By: "operator@here"}); err == nil {
		t.Error("published again over a conflict")
	}
	if run = resolve(t, b.env, run, ledger.AsFailed); run.TargetOutcome != ledger.TargetUnverified {
		t.Errorf("the target is %s, want unverified", run.TargetOutcome)
	}
}

// TestForeignMark: what the target holds may be the rows of a run that the ledger has lost; only that nothing changed
// could still be proved.
func TestForeignMark(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, lost)
	stranger := run
	stranger.ID = uuid.Must(uuid.NewV7())
	if err := b.putMark(t, stranger, 1, `{"run":"`+stranger.ID.String()+`","attempt":1,"token":"`+ledger.NewToken().String()+`"}`); err != nil {
		t.Fatal(err)
	}
	reconcile(t, b.env, run, publish.Conflict)
	l, err := b.env.Layout(stranger)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.Remove(t.Context(), l.RunDir()); err != nil {
		t.Fatal(err)
	}
	reconcile(t, b.env, run, publish.Applied)
	run = drive(t, b.env, resolve(t, b.env, run, ledger.AsPublished).ID)
	wantState(t, run, ledger.Success)
	wantTarget(t, b.World, run.SCN)
}

// unfenced is a warehouse whose server cannot be asked to close a session.
type unfenced struct{ publish.Warehouse }

func (unfenced) Fence(context.Context, publish.Handle) error { return publish.ErrUnreachable }
func (unfenced) Identity(context.Context) (string, error)    { return "", publish.ErrUnreachable }

// TestUndecided: while the server is not reached, the statement may still be under way, and nobody's word is taken.
func TestUndecided(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, lost)
	b.env.Warehouse = unfenced{b.out}
	if found := reconcile(t, b.env, run, publish.Undecided); found.Fenced {
		t.Error("it is said to be fenced")
	}
	if a := attempt(t, b.env, run); a.FencedAt != nil || a.Verdict != ledger.Undecided || len(a.Fence) == 0 {
		t.Errorf("on record: fenced at %v, %s, verdict %q", a.FencedAt, a.Fence, a.Verdict)
	}
	for _, as := range []ledger.ResolveAs{ledger.AsPublished, ledger.AsFailed, ledger.AsRepublish} {
		var refused *ledger.ResolveError
		if _, err := b.env.Resolve(t.Context(), run.ID, ledger.Resolution{As: as, Reason: "surely", By: "operator@here"}); !errors.As(err, &refused) {
			t.Errorf("resolved as %s without a fence: %v, want a refusal", as, err)
		}
	}
	b.env.Warehouse = b.out
	reconcile(t, b.env, run, publish.Applied)
}

// TestProve: with publish.unknown: prove, engines decide by what is proved, and by nothing else.
func TestProve(t *testing.T) {
	b := newBench(t)
	b.env.Recovery = pipeline.Recovery{Interval: 200 * time.Millisecond, PublishStale: time.Minute, Settle: settle, Mode: ledger.ModeReissue, Prove: true}
	for _, test := range []struct {
		send sender
		want ledger.State
	}{{unsent, ledger.FailedPublish}, {lost, ledger.Success}} {
		run := b.doubt(t, test.send)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- (&pipeline.Engine{Env: b.env}).Run(ctx, ctx) }()
		var ended *ledger.EndedError
		_, err := b.env.Ledger.Wait(t.Context(), run.ID, ledger.Verified)
		stop()
		if runErr := <-done; err != nil && !errors.As(err, &ended) || runErr != nil {
			t.Fatalf("wait: %v, engine: %v", err, runErr)
		}
		run, err = b.env.Ledger.Run(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		if wantState(t, run, test.want); run.TargetOutcome != "" && run.TargetOutcome != ledger.TargetUnchanged {
			t.Errorf("the target is %s, want unchanged", run.TargetOutcome)
		}
	}
	if n := b.out.sent.Load(); n != 0 { // both were sent by the test's own hand
		t.Errorf("%d more statements were sent", n)
	}
}
