package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

// due is the run's one dispatch that is due.
func due(t *testing.T, l *ledger.Ledger, run uuid.UUID) ledger.Due {
	t.Helper()
	rows, err := l.DueSteps(t.Context(), ledger.DueRequest{Run: run, Limit: 10})
	check(t, err)
	if len(rows) != 1 {
		t.Fatalf("due %v, want one", rows)
	}
	return rows[0]
}

func TestOneOwnerOfAStep(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := extracted(t, l, "j")
	d := due(t, l, run.ID)
	owned := make([]ledger.Ownership, 16)
	errs := together(len(owned), func(i int) (err error) {
		owned[i], err = l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: d.ID, Token: ledger.NewToken(), Lease: lease})
		return err
	})
	check(t, errors.Join(errs...))
	var owner ledger.Ownership
	n := 0
	for _, o := range owned {
		if o.Owned {
			owner = o
			n++
		} else if o.Why == "" {
			t.Error("not owned, and no reason")
		}
	}
	if n != 1 || owner.Run.State != ledger.StageValidating || owner.Attempt != 1 || owner.Kind != ledger.ValidateStage {
		t.Fatalf("%d owners, %+v, want one in STAGE_VALIDATING", n, owner)
	}
	again, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: d.ID, Token: owner.Hold.Token, Lease: lease})
	if err != nil || !again.Owned || again.Run.Seq != owner.Run.Seq || again.Attempt != 1 {
		t.Fatalf("the same token again: %+v, %v, want owned as recorded", again, err)
	}
	check(t, l.RenewStep(t.Context(), owner.Hold, lease))
}

func TestExpiredStepIsResumedByAnother(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := extracted(t, l, "j")
	first := own(t, l, run.ID, ledger.ValidateStage)
	change(t, db, "UPDATE loadctl.load_run SET step_lease_until = clock_timestamp() - interval '1 s'")
	second := own(t, l, run.ID, ledger.ValidateStage)
	if second.Attempt != 2 || second.Run.State != ledger.StageValidating || second.Run.Seq != first.Run.Seq {
		t.Fatalf("resumed as %+v, want attempt 2 in the same state", second)
	}
	// The paused owner comes back: nothing that it says counts.
	staleCalls(t, l, first.Hold)
	check(t, l.RenewStep(t.Context(), second.Hold, lease))
}

// staleCalls makes every call of a step's owner with a token that owns nothing.
func staleCalls(t *testing.T, l *ledger.Ledger, hold ledger.Hold) {
	t.Helper()
	n := int64(1)
	for name, err := range map[string]error{
		"renew":   l.RenewStep(t.Context(), hold, lease),
		"release": l.ReleaseStep(t.Context(), hold, ledger.Later{}),
		"sealed":  l.Sealed(t.Context(), hold, "x"),
		"metrics": func() error {
			_, err := l.RecordMetrics(t.Context(), hold, ledger.StageStaging, rowsMetric("1"))
			return err
		}(),
		"staged":    second(l.StagingValidated(t.Context(), hold, nil)),
		"verified":  second(l.Verified(t.Context(), hold, nil)),
		"arm":       l.Arm(t.Context(), hold, arming()),
		"progress":  l.PublishProgress(t.Context(), hold, ledger.Sent{QueryID: "q"}),
		"published": second(l.PublishResult(t.Context(), hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n})),
		"manifest":  second(l.RegisterManifest(t.Context(), manifest(hold, 1))),
		"stage failed": func() error {
			run, err := l.Run(t.Context(), hold.Run)
			if err != nil || run.State != ledger.StageValidating {
				return ledger.ErrStale // Fail is refused by its edge elsewhere
			}
			_, err = l.Fail(t.Context(), hold, ledger.Failure{Event: ledger.EventStageFailed})
			return err
		}(),
	} {
		var stale *ledger.StaleError
		if !errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s with a stale token: %v, want ErrStale", name, err)
		} else if errors.As(err, &stale) && (stale.State == "" || stale.Run != hold.Run) {
			t.Errorf("%s with a stale token: %+v, want the state found", name, stale)
		}
	}
}

func TestStaleTokensInEveryState(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	created := submit(t, l, "a")
	for _, run := range []ledger.Run{created, planned(t, l, "b", 1), extracted(t, l, "c"), staged(t, l, "d"), published(t, l, "e"), verified(t, l, "f")} {
		staleCalls(t, l, ledger.Hold{Run: run.ID, Token: ledger.NewToken()})
		if now := must(t)(l.Run(t.Context(), run.ID)); now.State != run.State || now.Seq != run.Seq {
			t.Errorf("run moved from %s to %s", run.State, now.State)
		}
	}
	o := armed(t, l, "g")
	staleCalls(t, l, ledger.Hold{Run: o.Hold.Run, Token: ledger.NewToken()})
	if _, err := l.Run(t.Context(), ledger.NewToken()); !errors.Is(err, ledger.ErrNoRun) {
		t.Errorf("no such run: %v, want ErrNoRun", err)
	}
}

func TestPublishIsNotResumed(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := staged(t, l, "j")
	first := own(t, l, run.ID, ledger.Publish)
	change(t, db, "UPDATE loadctl.load_run SET step_lease_until = clock_timestamp() - interval '1 s'")
	o, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: due(t, l, run.ID).ID, Token: ledger.NewToken(), Lease: lease})
	if err != nil || o.Owned {
		t.Fatalf("own an expired publish: %+v, %v, want superseded", o, err)
	}
	if got := ask[string](t, db, "SELECT outcome FROM loadctl.load_dispatch WHERE kind = 'PUBLISH'"); got != "superseded" {
		t.Fatalf("dispatch ended as %s, want superseded", got)
	}
	// Every edge back into STAGING_VALIDATED makes a new one.
	must(t)(l.PublishResult(t.Context(), first.Hold, ledger.Result{Event: ledger.EventNotArmed}))
	own(t, l, run.ID, ledger.Publish)
}

func TestReleasedStepIsDueLaterAndCounts(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{DispatchAttempts: 2})
	run := submit(t, l, "j")
	o := own(t, l, run.ID, ledger.Plan)
	check(t, l.ReleaseStep(t.Context(), o.Hold, ledger.Later{Message: "shutting down"})) // uncounted
	for attempt := 1; attempt <= 2; attempt++ {
		o = own(t, l, run.ID, ledger.Plan)
		if o.Attempt != attempt {
			t.Fatalf("attempt %d, want %d", o.Attempt, attempt)
		}
		check(t, l.ReleaseStep(t.Context(), o.Hold, ledger.Later{Counted: true, Class: "UNREACHABLE", Message: "no answer"}))
	}
	if rows, err := l.DueSteps(t.Context(), ledger.DueRequest{Run: run.ID}); err != nil || len(rows) != 0 {
		t.Fatalf("due %v, %v, want none: the dispatch is dead", rows, err)
	}
	if got := ask[string](t, db, "SELECT state FROM loadctl.load_dispatch"); got != "DEAD" {
		t.Fatalf("dispatch is %s, want DEAD", got)
	}
	dead := alerts(t, l, run.ID, ledger.CodeDispatchDead)
	if len(dead) != 1 || dead[0].Class != "UNREACHABLE" || !strings.HasSuffix(dead[0].Message, ": no answer") || !strings.Contains(string(dead[0].Detail), `"kind":"PLAN"`) {
		t.Fatalf("alerts %+v, want one with the class and message of the last attempt", dead)
	}
	if r := must(t)(l.Run(t.Context(), run.ID)); r.State != ledger.Created {
		t.Fatalf("run is %s, want CREATED: a dead dispatch fails nothing by itself", r.State)
	}
}

// alerts are the run's alerts of one code.
func alerts(t *testing.T, l *ledger.Ledger, run uuid.UUID, code string) (found []ledger.Entry) {
	t.Helper()
	entries, err := l.Events(t.Context(), run)
	check(t, err)
	for _, e := range entries {
		if e.Kind == ledger.KindAlert && e.Code == code {
			found = append(found, e)
		}
	}
	return found
}

func TestReleasedStepWaits(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := submit(t, l, "j")
	o := own(t, l, run.ID, ledger.Plan)
	id := ask[int64](t, db, "SELECT id FROM loadctl.load_dispatch")
	check(t, l.ReleaseStep(t.Context(), o.Hold, ledger.Later{After: time.Hour, Counted: true}))
	if o, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: id, Token: ledger.NewToken(), Lease: lease}); err != nil || o.Owned {
		t.Fatalf("own before its time: %+v, %v, want not owned", o, err)
	}
	if _, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: 1 << 40, Token: ledger.NewToken(), Lease: lease}); !errors.Is(err, ledger.ErrNoRun) {
		t.Fatalf("own what is not there: %v, want ErrNoRun", err)
	}
}

func TestFailAndCancel(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := extracted(t, l, "a")
	o := own(t, l, run.ID, ledger.ValidateStage)
	f := ledger.Failure{Event: ledger.EventStageFailed, Class: "MISMATCH", Message: "file gone"}
	for range 2 { // a repeat is answered as recorded
		if r := must(t)(l.Fail(t.Context(), o.Hold, f)); r.State != ledger.FailedStageValidation || r.Message != "file gone" {
			t.Fatalf("run is %s: %s", r.State, r.Message)
		}
	}
	if got := ask[string](t, db, "SELECT outcome FROM loadctl.load_dispatch WHERE kind = 'VALIDATE_STAGE'"); got != "done" {
		t.Fatalf("dispatch ended as %s, want done", got)
	}
	for _, e := range []ledger.Event{ledger.EventTargetFailed, ledger.EventPublished, ledger.EventVerified} {
		if _, err := l.Fail(t.Context(), ledger.Hold{Run: run.ID}, ledger.Failure{Event: e}); !errors.Is(err, ledger.ErrTransition) {
			t.Errorf("fail by %s: %v, want FAIL_TRANSITION_NOT_ALLOWED", e, err)
		}
	}
	b := planned(t, l, "b", 4, 4)
	c := claim(t, l, b.ID)
	for range 2 {
		if r := must(t)(l.Cancel(t.Context(), b.ID, "alice", "wrong date")); r.State != ledger.Cancelled || r.Message != "wrong date" {
			t.Fatalf("run is %s: %s", r.State, r.Message)
		}
	}
	if err := l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 4)); !errors.Is(err, ledger.ErrClaimMismatch) {
		t.Errorf("chunk after cancel: %v, want CLAIM_MISMATCH", err)
	}
	if _, err := l.Cancel(t.Context(), published(t, l, "c").ID, "alice", "x"); !errors.Is(err, ledger.ErrTransition) {
		t.Errorf("cancel of PUBLISHED: %v, want a TransitionError", err)
	}
}
