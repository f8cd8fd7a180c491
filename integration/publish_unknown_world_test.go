package integration

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// publisher is a warehouse whose publish sessions are counted and meddled with.
type publisher struct {
	publish.Warehouse
	sent atomic.Int64 // statements that were sent, whatever became of them
	open func() error // before a session is opened; nil: nothing
	send sender       // instead of the statement; nil: nothing
}

// sender does something with, or instead of, a statement.
type sender func(ctx context.Context, s publish.Session, p publish.Publication, report func(publish.Progress)) (publish.Result, error)

func (w *publisher) Open(ctx context.Context, tag string) (publish.Session, error) {
	if w.open != nil {
		if err := w.open(); err != nil {
			return nil, err
		}
	}
	s, err := w.Warehouse.Open(ctx, tag)
	return &countedSession{s, w}, err
}

type countedSession struct {
	publish.Session
	w *publisher
}

func (s *countedSession) Publish(ctx context.Context, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
	if s.w.send != nil {
		return s.w.send(ctx, s.Session, p, report)
	}
	s.w.sent.Add(1)
	return s.Session.Publish(ctx, p, report)
}

// marker is a store that meddles with the creation of the first mark of a publish.
type marker struct {
	stage.Store
	struck atomic.Bool
	before func() error // before the mark is created; nil: nothing
	after  func() error // once it is there; nil: nothing
}

func (m *marker) Create(ctx context.Context, path string) (stage.File, error) {
	if !strings.Contains(path, "/_PUBLISH.") || !m.struck.CompareAndSwap(false, true) {
		return m.Store.Create(ctx, path)
	}
	if m.before != nil {
		if err := m.before(); err != nil {
			return nil, err
		}
	}
	f, err := m.Store.Create(ctx, path)
	return &markFile{f, m}, err
}

type markFile struct {
	stage.File
	m *marker
}

func (f *markFile) Close() error {
	if err := f.File.Close(); err != nil || f.m.after == nil {
		return err
	}
	return f.m.after()
}

// bench is a small world of directories in which one run has published and every further one meets a fault.
type bench struct {
	*scenario.World
	env   *pipeline.Env
	out   *publisher
	store stage.Store // as it is, without anything that meddles
}

func newBench(t *testing.T) *bench {
	t.Helper()
	w, err := scenario.Start(t.Context(), scenario.Options{Dir: t.TempDir(), Postgres: cluster(t), Few: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Errorf("close the world: %v", err)
		}
	})
	if _, err := ledgertest.MakeLedger(t.Context(), w.Ledger.Cluster, w.Ledger.Name); err != nil { // migrates it
		t.Fatal(err)
	}
	b := &bench{World: w}
	b.env, b.out = b.newEnv(t)
	b.store = b.env.Store
	if run := runJob(t, b.env, w.Job(), pipeline.Submission{}); run.State != ledger.Success {
		t.Fatalf("the first run is %s: %s", run.State, run.Message)
	}
	b.out.sent.Store(0)
	change(t, w)
	return b
}

// newEnv is the environment of another process.
func (b *bench) newEnv(t *testing.T) (*pipeline.Env, *publisher) {
	t.Helper()
	env := newEnv(t, b.World)
	out := &publisher{Warehouse: env.Warehouse}
	env.Warehouse = out
	return env, out
}

// lost is a statement that is sent, ends well, and whose end is not heard of.
func lost(ctx context.Context, s publish.Session, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
	if _, err := s.Publish(ctx, p, report); err != nil {
		return publish.Result{}, err
	}
	return publish.Result{}, publish.ErrUnknown
}

// unsent is a statement that is lost on its way.
func unsent(context.Context, publish.Session, publish.Publication, func(publish.Progress)) (publish.Result, error) {
	return publish.Result{}, publish.ErrUnknown
}

// doubt drives a new run into PUBLISH_UNKNOWN.
func (b *bench) doubt(t *testing.T, send sender) ledger.Run {
	t.Helper()
	b.out.send = send
	run := runJob(t, b.env, b.Job(), pipeline.Submission{})
	b.out.send = nil
	if run.State != ledger.PublishUnknown {
		t.Fatalf("run is %s (%s), want PUBLISH_UNKNOWN", run.State, run.Message)
	}
	return run
}

func resolve(t *testing.T, env *pipeline.Env, run ledger.Run, as ledger.ResolveAs) ledger.Run {
	t.Helper()
	run, err := env.Resolve(t.Context(), run.ID, ledger.Resolution{As: as, Reason: "looked at it", By: "operator@here"})
	if err != nil {
		t.Fatalf("resolve as %s: %v", as, err)
	}
	return run
}

func reconcile(t *testing.T, env *pipeline.Env, run ledger.Run, want publish.Verdict) pipeline.Reconciled {
	t.Helper()
	found, err := env.Reconcile(t.Context(), run.ID, byOperator)
	if err != nil {
		t.Fatalf("reconcile: %v", err)
	}
	if found.Verdict != want {
		t.Fatalf("verdict %s (%s; %s), want %s", found.Verdict, found.Reason, found.Fence, want)
	}
	return found
}

func wantState(t *testing.T, run ledger.Run, want ledger.State) {
	t.Helper()
	if run.State != want {
		t.Fatalf("run is %s (%s), want %s", run.State, run.Message, want)
	}
}
