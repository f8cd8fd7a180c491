package integration

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// TestPublishNeverArmed fails a publish at each point before it arms. Nothing was sent, so it is done again by itself.
func TestPublishNeverArmed(t *testing.T) {
	b := newBench(t)
	for name, fault := range map[string]func(run ledger.Run) error{
		"no session": func(ledger.Run) error {
			b.out.open = func() error { b.out.open = nil; return publish.ErrUnreachable }
			return nil
		},
		"no mark": func(ledger.Run) error {
			b.env.Store = &marker{Store: b.store, before: func() error { return stage.ErrUnreachable }}
			return nil
		},
		"mark there, not heard of": func(ledger.Run) error {
			b.env.Store = &marker{Store: b.store, after: func() error { return stage.ErrUnreachable }}
			return nil
		},
		"torn mark in its place": func(run ledger.Run) error {
			b.env.Store = &marker{Store: b.store, before: func() error { return b.putMark(t, run, 1, `{"ledger":"`) }}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			sent := b.out.sent.Load()
			run, err := b.env.Submit(t.Context(), b.Job(), pipeline.Submission{})
			if err != nil {
				t.Fatal(err)
			}
			if err := fault(run); err != nil {
				t.Fatal(err)
			}
			run = drive(t, b.env, run.ID)
			b.env.Store = b.store
			wantState(t, run, ledger.Success)
			if n := b.out.sent.Load() - sent; n != 1 || run.PublishAttempt != 2 {
				t.Errorf("%d statements in %d attempts, want 1 in 2", n, run.PublishAttempt)
			}
			wantEdge(t, b.env, run, ledger.EventNotArmed)
			wantTarget(t, b.World, run.SCN)
		})
	}
}

// putMark writes a text where a run's mark n would be.
func (b *bench) putMark(t *testing.T, run ledger.Run, n int, text string) error {
	l, err := b.env.Layout(run)
	if err != nil {
		return err
	}
	f, err := b.store.Create(t.Context(), l.Mark(n))
	if err != nil {
		return err
	}
	if _, err := f.Write([]byte(text)); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Close()
}

// stop holds whoever calls here until it is told to go on, at the test's end in any case.
type stop struct {
	reached, released chan struct{}
	once              sync.Once
}

func newStop(t *testing.T) *stop {
	s := &stop{reached: make(chan struct{}), released: make(chan struct{})}
	t.Cleanup(s.goOn)
	return s
}

func (s *stop) here() error {
	close(s.reached)
	<-s.released
	return nil
}

func (s *stop) goOn() { s.once.Do(func() { close(s.released) }) }

// TestPublisherStopped stops a publisher at each point of its way, lets others decide about its run and publish a later
// one, and lets it go on: it must be refused, whatever it does.
func TestPublisherStopped(t *testing.T) {
	for name, test := range map[string]struct {
		stop  func(b *bench, s *stop)
		armed bool
	}{
		"between open and mark": {func(b *bench, s *stop) { b.env.Store = &marker{Store: b.env.Store, before: s.here} }, false},
		"between mark and arm":  {func(b *bench, s *stop) { b.env.Store = &marker{Store: b.env.Store, after: s.here} }, false},
		"between arm and send": {func(b *bench, s *stop) {
			b.out.send = func(ctx context.Context, x publish.Session, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
				_ = s.here()
				return x.Publish(ctx, p, report)
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := newStop(t)
			test.stop(b, s)
			run, err := b.env.Submit(t.Context(), b.Job(), pipeline.Submission{})
			if err != nil {
				t.Fatal(err)
			}
			stopped := make(chan error, 1)
			go func() {
				engine := pipeline.Engine{Env: b.env, Only: run.ID}
				stopped <- engine.Run(t.Context(), t.Context())
			}()
			await(t, s.reached)
			other, _ := b.newEnv(t)
			first := decideWithoutPublisher(t, other, run, test.armed)
			change(t, b.World)
			second := runJob(t, other, b.Job(), pipeline.Submission{})
			wantState(t, second, ledger.Success)
			wantTarget(t, b.World, second.SCN)

			s.goOn()
			if err := <-stopped; err != nil {
				t.Errorf("the revived publisher: %v", err)
			}
			wantTarget(t, b.World, second.SCN)
			now, err := other.Ledger.Run(t.Context(), run.ID)
			if err != nil {
				t.Fatal(err)
			}
			if now.State != first.State || now.TargetOutcome != first.TargetOutcome {
				t.Errorf("the run is %s %s after its publisher was revived, was %s %s", now.State, now.TargetOutcome, first.State, first.TargetOutcome)
			}
		})
	}
}

func await(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-t.Context().Done():
		t.Fatal("the test ended before the publisher came to its stop")
	}
}

// decideWithoutPublisher ends a run whose publisher does not answer.
func decideWithoutPublisher(t *testing.T, env *pipeline.Env, run ledger.Run, armed bool) ledger.Run {
	t.Helper()
	found := reconcile(t, env, run, publish.NotApplied)
	if !armed { // proved without the warehouse; it goes back, and is published by somebody else
		wantEdge(t, env, found.Run, ledger.EventNotArmed)
		run = drive(t, env, run.ID)
		wantState(t, run, ledger.Success)
		return run
	}
	wantState(t, found.Run, ledger.PublishUnknown)
	run = resolve(t, env, found.Run, ledger.AsFailed)
	wantState(t, run, ledger.FailedPublish)
	if run.TargetOutcome != ledger.TargetUnchanged {
		t.Errorf("the target is %s, want unchanged", run.TargetOutcome)
	}
	return run
}

// TestPublishSentOnceThoughAsked: a run in doubt is not published by anybody who is asked to drive it.
func TestPublishSentOnceThoughAsked(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, unsent)
	other, out := b.newEnv(t)
	for _, env := range []*pipeline.Env{b.env, other} {
		wantState(t, drive(t, env, run.ID), ledger.PublishUnknown)
	}
	if n := b.out.sent.Load() + out.sent.Load(); n != 0 {
		t.Errorf("%d statements were sent for a run in doubt", n)
	}
	reconcile(t, other, run, publish.NotApplied)
	again := resolve(t, other, run, ledger.AsRepublish)
	wantState(t, again, ledger.StagingValidated)
	run = drive(t, other, run.ID)
	wantState(t, run, ledger.Success)
	wantTarget(t, b.World, run.SCN)
	if n := out.sent.Load(); n != 1 || run.PublishAttempt != 2 {
		t.Errorf("%d statements, last attempt %d, want 1 and 2", n, run.PublishAttempt)
	}
	l, err := other.Layout(run)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if _, err := pipeline.ReadMark(t.Context(), other.Store, l, n+1); err != nil {
			t.Errorf("mark %d: %v", n+1, err)
		}
	}
}

// TestMarkOfAnother: a whole mark of another token stops the run. To reconcile it takes the mark in, and decides about
// the attempt that the mark tells of.
func TestMarkOfAnother(t *testing.T) {
	b := newBench(t)
	run, err := b.env.Submit(t.Context(), b.Job(), pipeline.Submission{})
	if err != nil {
		t.Fatal(err)
	}
	token := ledger.NewToken()
	b.env.Store = &marker{Store: b.env.Store, before: func() error {
		session, err := b.out.Warehouse.Open(t.Context(), "loadctl-other-1")
		if err != nil {
			return err
		}
		target := b.Job().Target
		target.Columns = scenario.StagedColumns()
		before, err := b.out.Observe(t.Context(), target)
		if err != nil {
			return err
		}
		text, err := json.Marshal(pipeline.Mark{Run: run.ID.String(), Attempt: 1, Token: token.String(), Tag: "loadctl-other-1", Handle: session.Handle(), Before: before})
		if err != nil {
			return err
		}
		return b.putMark(t, run, 1, string(text))
	}}
	run = drive(t, b.env, run.ID)
	wantState(t, run, ledger.PublishUnknown)
	if run.Class != ledger.CodeLedgerMismatch || b.out.sent.Load() != 0 {
		t.Errorf("class %s with %d statements sent, want LEDGER_MISMATCH and none", run.Class, b.out.sent.Load())
	}
	found, err := b.env.Reconcile(t.Context(), run.ID, byOperator)
	if err != nil {
		t.Fatalf("reconcile: %v", err)
	}
	if found.Run.PublishToken != token || !found.Fenced || found.Verdict != publish.NotApplied {
		t.Errorf("token %s, fenced %v, verdict %s (%s), want the mark's %s, fenced, and NOT_APPLIED", found.Run.PublishToken, found.Fenced, found.Verdict, found.Reason, token)
	}
	run = resolve(t, b.env, found.Run, ledger.AsRepublish)
	run = drive(t, b.env, run.ID)
	wantState(t, run, ledger.Success)
	wantTarget(t, b.World, run.SCN)
}
