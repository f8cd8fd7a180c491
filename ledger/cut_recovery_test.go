package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// What recovers can be lost at COMMIT too, and be repeated as it was.
func TestEveryRecoverySurvivesALostCommit(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]cut{"not done": cutBefore, "done": cutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t)
			ticked(t, db)
			c, proxied := newCutter(t, db)
			direct, l := db.Open(t, ledger.Config{}), proxied.Open(t, ledger.Config{})
			lostSweeps(t, l, direct, db, c, mode)
			lostPublishRecovery(t, l, direct, db, c.losing(t, mode))
			lostRest(t, l, direct, db, c.losing(t, mode))
		})
	}
}

// lostSweeps loses the answer of each act of a sweep, and sweeps again: what was done is not done twice.
func lostSweeps(t *testing.T, l, direct *ledger.Ledger, db ledgertest.Database, c *cutter, mode cut) {
	t.Helper()
	run := planned(t, direct, "p", 5)
	claim(t, direct, run.ID)
	step, unarmed, sent := own(t, direct, extracted(t, direct, "q").ID, ledger.ValidateStage), own(t, direct, staged(t, direct, "r").ID, ledger.Publish), armed(t, direct, "s")
	overdue := submit(t, direct, "o")
	change(t, db, "UPDATE loadctl.load_run SET created_at = clock_timestamp() - interval '2 h' WHERE id = $1", overdue.ID)
	silent(t, db)
	const acts = 1 + 6 // the tick; partition, run past its time, step, two publishes, sessions
	for i := range 3 * acts {
		c.skip.Store(int32(i % acts))
		c.mode.Store(int32(mode))
		if _, err := l.Sweep(t.Context(), sweeping()); err != nil && !errors.Is(err, ledger.ErrCommitUnknown) {
			t.Fatalf("sweep with a lost answer: %v", err)
		}
	}
	c.mode.Store(int32(pass))
	sweep(t, l, sweeping())
	for what, test := range map[string]struct {
		got, want any
	}{
		"partition": {ask[string](t, db, "SELECT state || attempts FROM loadctl.load_partition WHERE run_id = $1", run.ID), "RETRY1"},
		"step":      {ask[string](t, db, "SELECT state || attempts FROM loadctl.load_dispatch WHERE run_id = $1 AND kind = 'VALIDATE_STAGE'", step.Hold.Run), "PENDING1"},
		"unarmed":   {state(t, direct, unarmed.Hold.Run), ledger.StagingValidated},
		"sent":      {state(t, direct, sent.Hold.Run), ledger.PublishUnknown},
		"overdue":   {state(t, direct, overdue.ID), ledger.TimedOut},
		"alerts":    {len(alerts(t, direct, sent.Hold.Run, ledger.CodePublishUnknown)), 1},
		"sessions":  {ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_slot WHERE token IS NOT NULL"), 0},
	} {
		if test.got != test.want {
			t.Errorf("%s: %v, want %v", what, test.got, test.want)
		}
	}
}

// lostPublishRecovery reconciles and resolves, each decision through lost.
func lostPublishRecovery(t *testing.T, l, direct *ledger.Ledger, db ledgertest.Database, lost func(string, func() error)) {
	t.Helper()
	ctx := t.Context()
	o := armed(t, direct, "a")
	lost("fence", func() error { _, err := l.Fence(ctx, o.Hold, "op"); return err })
	lost("recorded fence", func() error { return l.RecordFence(ctx, o.Hold, true, json.RawMessage(`{}`)) })
	lost("observation", func() error { _, err := l.RecordObservation(ctx, o.Hold, json.RawMessage(`{}`)); return err })
	judge(t, direct, o.Hold, ledger.Undecided)
	lost("verdict", func() error {
		return l.RecordVerdict(ctx, o.Hold, ledger.Judgement{Verdict: ledger.Damaged})
	})
	lost("republish", func() error { return second(l.Resolve(ctx, o.Hold, word(ledger.AsRepublish))) })
	unarmed := own(t, direct, o.Hold.Run, ledger.Publish).Hold
	lost("fence, not armed", func() error {
		f, err := l.Fence(ctx, unarmed, "op")
		if err == nil && !f.NeverArmed {
			err = errors.New("armed")
		}
		return err
	})
	third := own(t, direct, o.Hold.Run, ledger.Publish).Hold
	must(t)(direct.PublishResult(ctx, third, ledger.Result{Event: ledger.EventPublishUnknown}))
	lost("never armed", func() error { return second(l.NeverArmed(ctx, third, "half a mark", "op")) })
	r := must(t)(direct.Run(ctx, o.Hold.Run))
	if n := len(alerts(t, direct, r.ID, ledger.CodeTargetDamaged)); n != 1 || r.State != ledger.StagingValidated || !r.TargetDamaged {
		t.Fatalf("run %s, damaged %v, %d alerts, want STAGING_VALIDATED, damaged, one alert", r.State, r.TargetDamaged, n)
	}

	compare := otherTimeline(t, db)
	m := mark(r.ID, 4, ledger.NewToken())
	lost("mark", func() error { _, err := l.MarkFound(ctx, m); return err })
	if n := len(alerts(t, direct, r.ID, ledger.CodeLedgerMismatch)); n != 1 || state(t, direct, r.ID) != ledger.PublishUnknown {
		t.Fatalf("%d alerts, want 1 and PUBLISH_UNKNOWN", n)
	}
	compare()
	line, err := direct.Timelines(ctx)
	check(t, err)
	otherTimeline(t, db)
	lost("compared", func() error { return l.Compared(ctx, line.Current, nil) })
	hold := ledger.Hold{Run: r.ID, Token: m.Token}
	check(t, direct.RecordFence(ctx, hold, true, json.RawMessage(`{}`)))
	lost("resolve as published", func() error { return second(l.Resolve(ctx, hold, word(ledger.AsPublished))) })
	if got := state(t, direct, r.ID); got != ledger.Published {
		t.Fatalf("run is %s, want PUBLISHED", got)
	}
}

// lostRest loses the answers of what else a person asks for.
func lostRest(t *testing.T, l, direct *ledger.Ledger, db ledgertest.Database, lost func(string, func() error)) {
	t.Helper()
	ctx := t.Context()
	run := planned(t, direct, "x", 5)
	claim(t, direct, run.ID)
	silent(t, db)
	lost("reissue", func() error {
		got, err := l.Reissue(ctx, reissue(run.ID, 0))
		if err == nil && len(got) != 1 {
			err = errors.New("not reissued")
		}
		return err
	})
	if c := claim(t, direct, run.ID); c.Attempt != 1 {
		t.Fatalf("attempt %d, want 1: the lost one does not count", c.Attempt)
	}
	over := submit(t, direct, "y")
	lost("resend", func() error { return second(l.Resend(ctx, ledger.ResendRequest{Run: over.ID, Reason: "x"})) })
	must(t)(direct.Cancel(ctx, over.ID, "op", "x"))
	lost("cleaned", func() error { return l.Cleaned(ctx, over.ID, nil) })
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_event WHERE code = 'CLEANED'"); n != 1 {
		t.Fatalf("cleaned %d times, want once", n)
	}
	lost("distrust", func() error { return l.Distrust(ctx, "op", "x") })
	if lines, err := direct.Timelines(ctx); err != nil || lines.Same() {
		t.Fatalf("timelines %+v, %v, want a comparison to be due", lines, err)
	}
}
