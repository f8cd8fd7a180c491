package integration

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

// backup copies the ledger as it is at this moment, as a backup does that is restored later.
func (b *bench) backup(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, b.Ledger.Cluster.AdminDSN("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	from := pgx.Identifier{b.Ledger.Name}.Sanitize()
	for _, text := range []string{ // only a database without sessions can be copied; ours come back by themselves
		"ALTER DATABASE " + from + " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '" + b.Ledger.Name + "'",
		"CREATE DATABASE " + pgx.Identifier{name}.Sanitize() + " TEMPLATE " + from + " OWNER " + ledgertest.Owner,
		"ALTER DATABASE " + from + " ALLOW_CONNECTIONS true",
	} {
		if _, err := conn.Exec(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// restored is the environment of a process on a backup of the ledger.
func (b *bench) restored(t *testing.T, name string) (*pipeline.Env, *publisher) {
	t.Helper()
	env, out := b.newEnv(t)
	dsn := b.Ledger.Cluster.DSN(ledgertest.Runtime, b.Ledger.Cluster.Password, name)
	l, err := ledger.Open(t.Context(), ledger.Config{DSN: dsn, By: "restored@here", MaxConns: 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	env.Ledger.Close()
	env.Ledger = l
	return env, out
}

// forget makes a ledger not know whether it is the one that it was: what PostgreSQL says of its timeline, after a standby
// was promoted or a backup rolled forward, is no longer what was compared last.
func (b *bench) forget(t *testing.T, name string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), b.Ledger.Cluster.AdminDSN(name))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), "UPDATE loadctl.load_ledger SET compared_timeline = 'another/00000001'"); err != nil {
		t.Fatal(err)
	}
}

// driveUntil lets an engine with a sweeper work until a run is in a state and the ledger is compared.
func driveUntil(t *testing.T, env *pipeline.Env, run ledger.Run, want ledger.State) ledger.Run {
	t.Helper()
	env.Recovery = pipeline.Recovery{Interval: 200 * time.Millisecond, PublishStale: time.Minute, Settle: settle, Mode: ledger.ModeReissue}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- (&pipeline.Engine{Env: env}).Run(ctx, ctx) }()
	watch := env.Ledger.Watch(ctx)
	defer watch.Close()
	for {
		now, err := env.Ledger.Run(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := env.Ledger.Timelines(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.State == want && lines.Same() || ctx.Err() != nil {
			stop()
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			wantState(t, now, want)
			return now
		}
		watch.Next(ctx)
	}
}

// TestLedgerLostTheArm: the ledger goes back to before the arm of a publish that was done. Nothing may be published again
// or deleted until the marks were compared; then the run is in doubt, and the evidence of its mark decides.
func TestLedgerLostTheArm(t *testing.T) {
	b := newBench(t)
	name := b.Ledger.Name + "_old"
	b.env.Store = &marker{Store: b.store, after: func() error { return b.backup(t.Context(), name) }}
	original := runJob(t, b.env, b.Job(), pipeline.Submission{})
	wantState(t, original, ledger.Success)
	wantTarget(t, b.World, original.SCN)

	env, out := b.restored(t, name)
	b.forget(t, name)
	run, err := env.Ledger.Run(t.Context(), original.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantState(t, run, ledger.Publishing)
	if a := attempt(t, env, run); a.ArmedAt != nil {
		t.Fatal("the backup knows the arm: the test shows nothing")
	}
	if _, err := env.Reconcile(t.Context(), run.ID, byOperator); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("reconciled before the comparison: %v, want ErrTimeline", err)
	}
	if cleaned, err := env.Clean(t.Context(), ledger.Retention{}); err != nil || len(cleaned) != 0 {
		t.Errorf("cleaned %v, %v before the comparison", cleaned, err)
	}
	run = driveUntil(t, env, run, ledger.PublishUnknown)
	if run.Class != ledger.CodeLedgerMismatch || run.PublishToken != original.PublishToken {
		t.Errorf("run is in doubt by %s under %s, want LEDGER_MISMATCH under the mark's %s", run.Class, run.PublishToken, original.PublishToken)
	}
	found := reconcile(t, env, run, publish.Applied)
	run = resolve(t, env, found.Run, ledger.AsPublished)
	run = drive(t, env, run.ID)
	wantState(t, run, ledger.Success)
	wantTarget(t, b.World, original.SCN)
	if n := out.sent.Load(); n != 0 {
		t.Errorf("%d statements were sent by the restored ledger", n)
	}
}

// TestLedgerLostALivePublisher: the publisher of a forgotten arm is about to send while the marks are compared, by a
// ledger for which its run is on its way, or over.
func TestLedgerLostALivePublisher(t *testing.T) {
	for name, test := range map[string]struct {
		prepare func(t *testing.T, env *pipeline.Env, run ledger.Run) ledger.Run
		adopted bool
	}{
		"run under way": {func(_ *testing.T, _ *pipeline.Env, run ledger.Run) ledger.Run { return run }, true},
		"run over": {func(t *testing.T, env *pipeline.Env, run ledger.Run) ledger.Run {
			reconcile(t, env, run, publish.NotApplied) // by the word of a ledger that does not know that it forgot
			run, err := env.Ledger.Cancel(t.Context(), run.ID, "operator@here", "not needed")
			if err != nil {
				t.Fatal(err)
			}
			return run
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			before, err := b.TargetLines(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			s := newStop(t)
			old := b.Ledger.Name + "_old"
			b.env.Store = &marker{Store: b.store, after: func() error { return b.backup(t.Context(), old) }}
			b.out.send = func(ctx context.Context, x publish.Session, p publish.Publication, report func(publish.Progress)) (publish.Result, error) {
				_ = s.here()
				return x.Publish(ctx, p, report)
			}
			run, err := b.env.Submit(t.Context(), b.Job(), pipeline.Submission{})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				engine := pipeline.Engine{Env: b.env, Only: run.ID}
				done <- engine.Run(t.Context(), t.Context())
			}()
			await(t, s.reached)
			env, _ := b.restored(t, old)
			run = test.prepare(t, env, run)
			b.forget(t, old)
			found, err := env.CompareLedger(t.Context(), byOperator)
			if err != nil {
				t.Fatalf("compare: %v", err)
			}
			if (len(found.Adopted) == 1) != test.adopted {
				t.Errorf("adopted %v, want it: %v", found.Adopted, test.adopted)
			}
			s.goOn()
			if err := <-done; err != nil {
				t.Errorf("the revived publisher: %v", err)
			}
			now, err := b.TargetLines(t.Context())
			if err != nil || fmt.Sprint(now) != fmt.Sprint(before) {
				t.Errorf("the forgotten publisher has changed the target (%d rows, were %d), %v", len(now), len(before), err)
			}
			if test.adopted {
				reconcile(t, env, run, publish.NotApplied)
			}
		})
	}
}

// TestComparisonBrokenOff: the session of a mark cannot be closed at first. The gate stays shut until it could be.
func TestComparisonBrokenOff(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, unsent)
	name := b.Ledger.Name + "_old"
	if err := b.backup(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	b.env, b.out = b.newEnv(t) // the backup has cut the connections of the other
	reconcile(t, b.env, run, publish.NotApplied)
	run = resolve(t, b.env, run, ledger.AsRepublish)
	run = drive(t, b.env, run.ID) // a second attempt, of which the backup knows nothing
	wantState(t, run, ledger.Success)

	env, _ := b.restored(t, name)
	b.forget(t, name)
	whole := env.Warehouse
	env.Warehouse = unfenced{whole}
	for range 2 { // what the first had done must not make the second easier
		if _, err := env.CompareLedger(t.Context(), byOperator); !errors.Is(err, publish.ErrUnreachable) {
			t.Fatalf("compared without closing the session: %v, want ErrUnreachable", err)
		}
	}
	if _, err := env.Reconcile(t.Context(), run.ID, byOperator); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("reconciled: %v, want ErrTimeline", err)
	}
	env.Warehouse = whole
	if found, err := env.CompareLedger(t.Context(), byOperator); err != nil || len(found.Adopted) != 1 {
		t.Fatalf("adopted %v, %v, want one", found.Adopted, err)
	}
	reconcile(t, env, run, publish.Applied)
}
