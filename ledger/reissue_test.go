package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

func reissue(run uuid.UUID, partitions ...int) ledger.ReissueRequest {
	return ledger.ReissueRequest{Run: run, Partitions: partitions, Stale: time.Minute, By: "alice", Reason: "host is gone"}
}

func TestReissueByAPerson(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5, 5, 5, 5, 0)
	lost, waits := claim(t, l, run.ID), claim(t, l, run.ID)
	check(t, l.ReportChunk(t.Context(), lost.Held, chunk(lost, 0, 5)))
	silent(t, db)
	_, err := l.RetryPartition(t.Context(), waits.Held, ledger.Lost{Class: "UNREACHABLE", After: time.Hour, Counted: true})
	check(t, err)
	done := claim(t, l, run.ID)
	extract(t, l, done)
	lives := claim(t, l, run.ID)
	for p, why := range map[int]string{done.Partition: "SUCCESS", lives.Partition: "w holds it", 4: "SUCCESS"} {
		var no *ledger.ReissueError
		if got, err := l.Reissue(t.Context(), reissue(run.ID, lost.Partition, p)); !errors.As(err, &no) || no.Partition != p || !strings.Contains(no.Why, why) || got != nil {
			t.Errorf("reissue of partition %d: %v, %v, want refused: %s", p, got, err, why)
		}
	}
	if files, err := l.Files(t.Context(), run.ID); err != nil || len(files) != 2 {
		t.Fatalf("files %v, %v, want none void: nothing was reissued", files, err)
	}
	got, err := l.Reissue(t.Context(), reissue(run.ID))
	if err != nil || fmt.Sprint(got) != fmt.Sprint([]int{lost.Partition, waits.Partition}) {
		t.Fatalf("reissue: %v, %v, want the lost one and the one that waits", got, err)
	}
	if files, err := l.Files(t.Context(), run.ID); err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v, want those of the lost attempt void", files, err)
	}
	first, second := claim(t, l, run.ID), claim(t, l, run.ID)
	if first.Partition != lost.Partition || first.Attempt != 1 || first.Token == lost.Token || second.Partition != waits.Partition || second.Attempt != 2 {
		t.Fatalf("claimed %+v and %+v, want both again: a lost attempt does not count, a failed one does", first, second)
	}
	if by := ask[string](t, db, "SELECT string_agg(DISTINCT by, ' ') FROM loadctl.load_event WHERE code = 'REISSUED'"); by != "alice" {
		t.Fatalf("reissued by %s, want alice", by)
	}
}

// The person's word goes beyond max_attempts: the sweeper would fail the run, a person may want one more.
func TestReissueOfTheLastAttempt(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5)
	c := claim(t, l, run.ID)
	change(t, db, "UPDATE loadctl.load_partition SET attempts = 3")
	silent(t, db)
	if got, err := l.Reissue(t.Context(), reissue(run.ID, 0)); err != nil || len(got) != 1 {
		t.Fatalf("reissue: %v, %v", got, err)
	}
	if again := claim(t, l, run.ID); again.Attempt != 3 || again.Token == c.Token {
		t.Fatalf("claimed %+v, want attempt 3 again", again)
	}
}

func TestReissueRefuses(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := planned(t, l, "j", 5, 5)
	if _, err := l.Reissue(t.Context(), reissue(run.ID, 0)); !errors.Is(err, ledger.ErrTransition) || !strings.Contains(err.Error(), "PENDING") {
		t.Errorf("PENDING: %v, want refused", err)
	}
	if _, err := l.Reissue(t.Context(), reissue(run.ID, 9)); !errors.Is(err, ledger.ErrNoRun) {
		t.Errorf("no such partition: %v, want ErrNoRun", err)
	}
	if got, err := l.Reissue(t.Context(), reissue(run.ID)); err != nil || got != nil {
		t.Errorf("nothing lost: %v, %v, want nothing", got, err)
	}
	if _, err := l.Reissue(t.Context(), ledger.ReissueRequest{Run: run.ID}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("no stale: %v, want ErrInvalid", err)
	}
	c := claim(t, l, run.ID)
	silent(t, db)
	must(t)(l.FailPartition(t.Context(), c.Held, ledger.Failure{Event: ledger.EventSnapshotGone}))
	var stale *ledger.StaleError
	if _, err := l.Reissue(t.Context(), reissue(run.ID)); !errors.As(err, &stale) || stale.State != "FAILED_SNAPSHOT_EXPIRED" || !strings.Contains(stale.Why, "new run") {
		t.Errorf("a run that is over: %v, want refused: only a new run helps", err)
	}
}

// The worker of a reissued attempt comes back at the very moment: either its report counts, or the reissue does.
func TestReissueAgainstALateReport(t *testing.T) {
	t.Parallel()
	const runs = 45
	l, db := open(t)
	makeRunning(t, db, runs)
	silent(t, db)
	for g := 1; g <= runs; g++ {
		held := running(g, 1) // of two rows, in one chunk on record
		extra := ledger.File{Index: 1, Path: ledger.AttemptDir("root", 1, held.Token) + "/x", Rows: 1, Digest: "x"}
		late := []func() error{
			func() error { return l.ReportChunk(t.Context(), held, extra) },
			func() error {
				_, err := l.FinishPartition(t.Context(), held, ledger.FinishReport{Chunks: 1, Rows: 2})
				return err
			},
			func() error {
				_, err := l.RetryPartition(t.Context(), held, ledger.Lost{Class: "UNREACHABLE", Counted: true})
				return err
			},
		}
		var reissued []int
		var report error
		check(t, errors.Join(together(2, func(i int) (err error) {
			if i == 0 {
				reissued, err = l.Reissue(t.Context(), reissue(held.Run))
				return err
			}
			report = late[g%len(late)]()
			return nil
		})...))
		if report != nil && !errors.Is(report, ledger.ErrClaimMismatch) {
			t.Fatalf("run %d: late report: %v, want CLAIM_MISMATCH", g, report)
		}
		lateFinish := g%len(late) == 1
		if got := fmt.Sprint(reissued); lateFinish && report == nil && got != "[0]" || report != nil && got != "[0 1]" {
			t.Fatalf("run %d: reissued %s, late report %v: want one of the two to count", g, got, report)
		}
	}
	if n := ask[int](t, db, `SELECT count(*)::int FROM loadctl.load_file f JOIN loadctl.load_partition p ON p.run_id = f.run_id AND p.idx = f.partition
 WHERE f.voided_at IS NULL AND (p.state <> 'SUCCESS' OR p.token <> f.token)`); n != 0 {
		t.Fatalf("%d chunks of lost attempts count", n)
	}
	held := running(1, 0)
	if _, err := l.FinishPartition(t.Context(), held, ledger.FinishReport{Chunks: 1, Rows: 1}); !errors.Is(err, ledger.ErrClaimMismatch) {
		t.Fatalf("finish of a reissued attempt: %v, want CLAIM_MISMATCH", err)
	}
}

func TestResend(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{DispatchAttempts: 1})
	run := submit(t, l, "j")
	o := own(t, l, run.ID, ledger.Plan)
	var stale *ledger.StaleError
	if _, err := l.Resend(t.Context(), ledger.ResendRequest{Run: run.ID}); !errors.As(err, &stale) || stale.Why != "somebody works on it" {
		t.Fatalf("resend during work: %v, want refused", err)
	}
	check(t, l.RenewStep(t.Context(), o.Hold, lease)) // and its owner noticed nothing
	check(t, l.ReleaseStep(t.Context(), o.Hold, ledger.Later{Counted: true, Class: "LOGIN", Message: "refused"}))
	dead := alerts(t, l, run.ID, ledger.CodeDispatchDead)
	if len(dead) != 1 {
		t.Fatalf("alerts %v, want the dispatch dead", dead)
	}
	for range 2 { // a repeat finds it due
		must(t)(l.Resend(t.Context(), ledger.ResendRequest{Run: run.ID, By: "alice", Reason: "password was renewed"}))
	}
	es, err := l.Events(t.Context(), run.ID)
	check(t, err)
	if e := es[len(es)-1]; e.Code != ledger.CodeResent || e.By != "alice" || !strings.HasSuffix(e.Message, ": password was renewed") {
		t.Fatalf("last event %+v, want who resent it and why", e)
	}
	if o := own(t, l, run.ID, ledger.Plan); o.Attempt != 1 {
		t.Fatalf("attempt %d, want all attempts again", o.Attempt)
	}
	// An owner that is gone is not waited for.
	silent(t, db)
	must(t)(l.Resend(t.Context(), ledger.ResendRequest{Run: run.ID, Reason: "x"}))
	own(t, l, run.ID, ledger.Plan)
}

func TestResendRefuses(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	plan := func(run uuid.UUID) int64 {
		return ask[int64](t, db, "SELECT id FROM loadctl.load_dispatch WHERE run_id = $1 AND kind = 'PLAN'", run)
	}
	gone, sent, over := extracted(t, l, "a"), armed(t, l, "b"), verified(t, l, "c")
	for name, req := range map[string]ledger.ResendRequest{
		"a step that is over":        {Dispatch: plan(gone.ID)},
		"a publish under way":        {Run: sent.Hold.Run},
		"a run that is over":         {Run: over.ID},
		"a publish that is unknown":  {Run: unknown(t, l, "d").Run},
		"a run that extracts (none)": {Run: planned(t, l, "e", 1).ID},
	} {
		if _, err := l.Resend(t.Context(), req); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s: %v, want ErrStale", name, err)
		}
	}
	if _, err := l.Resend(t.Context(), ledger.ResendRequest{Dispatch: 1 << 40}); !errors.Is(err, ledger.ErrNoRun) {
		t.Errorf("no such dispatch: %v, want ErrNoRun", err)
	}
}

// A resend and an owner meet: the owner keeps its step, or the step was due again before it owned.
func TestResendAgainstAnOwner(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	for i := range 20 {
		run := submit(t, l, fmt.Sprint("j", i))
		d := due(t, l, run.ID)
		var o ledger.Ownership
		errs := together(2, func(i int) (err error) {
			if i == 0 {
				return second(l.Resend(t.Context(), ledger.ResendRequest{Run: run.ID, Reason: "x"}))
			}
			o, err = l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: d.ID, Token: ledger.NewToken(), Lease: lease})
			return err
		})
		if errs[0] != nil && !errors.Is(errs[0], ledger.ErrStale) || errs[1] != nil || !o.Owned {
			t.Fatalf("resend %v, own %+v %v, want the owner to keep its step", errs[0], o, errs[1])
		}
		check(t, l.RenewStep(t.Context(), o.Hold, lease))
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_dispatch WHERE state <> 'ACKED'"); n != 0 {
		t.Fatalf("%d dispatches are not ACKED", n)
	}
}

func TestCancelSaysWhyNot(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	for why, run := range map[string]uuid.UUID{
		"cannot be taken back":        armed(t, l, "a").Hold.Run,
		"wait for it":                 own(t, l, staged(t, l, "b").ID, ledger.Publish).Hold.Run,
		"reconcile the run":           unknown(t, l, "c").Run,
		"its validation ends the run": published(t, l, "d").ID,
		"it is over":                  verified(t, l, "e").ID,
	} {
		before := state(t, l, run)
		_, err := l.Cancel(t.Context(), run, "alice", "x")
		var no *ledger.TransitionError
		if !errors.As(err, &no) || no.From != before || !strings.Contains(no.Why, why) || !strings.Contains(err.Error(), why) {
			t.Errorf("cancel of %s: %v, want refused: %s", before, err, why)
		}
		if now := state(t, l, run); now != before {
			t.Errorf("run moved from %s to %s", before, now)
		}
	}
	for _, run := range []ledger.Run{submit(t, l, "f"), planned(t, l, "g", 1), extracted(t, l, "h"), own(t, l, extracted(t, l, "i").ID, ledger.ValidateStage).Run, staged(t, l, "k")} {
		if r, err := l.Cancel(t.Context(), run.ID, "alice", "x"); err != nil || r.State != ledger.Cancelled || r.Class != "CANCELLED" {
			t.Errorf("cancel of %s: %s [%s], %v, want CANCELLED", run.State, r.State, r.Class, err)
		}
	}
}
