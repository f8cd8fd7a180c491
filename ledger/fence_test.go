package ledger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// unknown brings a run to PUBLISH_UNKNOWN, armed and not fenced.
func unknown(t *testing.T, l *ledger.Ledger, job string) ledger.Hold {
	t.Helper()
	o := armed(t, l, job)
	must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishUnknown, Message: "connection cut"}))
	return o.Hold
}

// fenced is unknown, and fenced by proof.
func fenced(t *testing.T, l *ledger.Ledger, job string) ledger.Hold {
	t.Helper()
	hold := unknown(t, l, job)
	check(t, l.RecordFence(t.Context(), hold, true, json.RawMessage(`{"closed": true}`)))
	return hold
}

// judge observes twice and records a verdict.
func judge(t *testing.T, l *ledger.Ledger, hold ledger.Hold, v ledger.Verdict) {
	t.Helper()
	for range 2 {
		_, err := l.RecordObservation(t.Context(), hold, json.RawMessage(`{"files": ["a"]}`))
		check(t, err)
	}
	check(t, l.RecordVerdict(t.Context(), hold, ledger.Judgement{Verdict: v, Detail: json.RawMessage(`{"rows": 30}`)}))
}

// attempt is the attempt to publish under the hold's token.
func attempt(t *testing.T, l *ledger.Ledger, hold ledger.Hold) ledger.Attempt {
	t.Helper()
	attempts, err := l.Attempts(t.Context(), hold.Run)
	check(t, err)
	i := slices.IndexFunc(attempts, func(a ledger.Attempt) bool { return a.Token == hold.Token })
	if i < 0 {
		t.Fatalf("attempts %+v, want one of token %s", attempts, hold.Token)
	}
	return attempts[i]
}

func word(as ledger.ResolveAs) ledger.Resolution {
	return ledger.Resolution{As: as, Reason: "looked at it", By: "alice"}
}

func TestFenceStopsAnArmedPublish(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	o := armed(t, l, "j")
	for range 2 { // a repeat is answered as recorded
		f, err := l.Fence(t.Context(), o.Hold, "alice")
		if err != nil || f.NeverArmed || f.Run.State != ledger.PublishUnknown || string(f.Attempt.Session) != `{"guid": "s"}` || f.Attempt.FencedAt != nil {
			t.Fatalf("fence: %+v, %v, want PUBLISH_UNKNOWN and the session to close", f, err)
		}
	}
	if n := len(alerts(t, l, o.Hold.Run, ledger.CodePublishUnknown)); n != 1 {
		t.Fatalf("%d alerts, want one", n)
	}
	staleCalls(t, l, o.Hold) // neither the arm nor a result counts any more
	check(t, l.RecordFence(t.Context(), o.Hold, false, json.RawMessage(`{"why": "balancer"}`)))
	if a := attempt(t, l, o.Hold); a.FencedAt != nil || string(a.Fence) != `{"why": "balancer"}` {
		t.Fatalf("attempt %+v, want not fenced, and why", a)
	}
	check(t, l.RecordFence(t.Context(), o.Hold, true, json.RawMessage(`{"closed": true}`)))
	first := *attempt(t, l, o.Hold).FencedAt
	check(t, l.RecordFence(t.Context(), o.Hold, false, json.RawMessage(`{"why": "down"}`)))
	if a := attempt(t, l, o.Hold); !a.FencedAt.Equal(first) || string(a.Fence) != `{"closed": true}` {
		t.Fatalf("attempt %+v, want the proof to stay", a)
	}
}

func TestFenceOfWhatNeverArmed(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	o := own(t, l, staged(t, l, "j").ID, ledger.Publish)
	for range 2 {
		f, err := l.Fence(t.Context(), o.Hold, "alice")
		if err != nil || !f.NeverArmed || f.Run.State != ledger.StagingValidated || f.Attempt.Verdict != ledger.NotApplied {
			t.Fatalf("fence: %+v, %v, want STAGING_VALIDATED, proved without the warehouse", f, err)
		}
	}
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("arm after the fence: %v, want ErrStale", err)
	}
	own(t, l, o.Hold.Run, ledger.Publish) // its dispatch is there
	if _, err := l.Fence(t.Context(), ledger.Hold{Run: o.Hold.Run, Token: ledger.NewToken()}, "alice"); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("fence by a stranger: %v, want ErrStale", err)
	}
	if _, err := l.Fence(t.Context(), ledger.Hold{Run: published(t, l, "k").ID}, "alice"); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("fence of PUBLISHED: %v, want ErrStale", err)
	}
}

// A verdict rests on a fence and on observations that have settled since, by the database's clock.
func TestVerdictNeedsFenceAndSettling(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	hold := unknown(t, l, "j")
	verdict := func(v ledger.Verdict, settle time.Duration) error {
		return l.RecordVerdict(t.Context(), hold, ledger.Judgement{Verdict: v, Settle: settle})
	}
	observe := func(what string) time.Time {
		t.Helper()
		at, err := l.RecordObservation(t.Context(), hold, json.RawMessage(what))
		check(t, err)
		return at
	}
	observe(`{"files": 1}`)
	observe(`{"files": 1}`)
	if err := verdict(ledger.NotApplied, 0); !errors.Is(err, ledger.ErrStale) || !strings.Contains(err.Error(), "not fenced") {
		t.Fatalf("verdict without a fence: %v, want refused", err)
	}
	check(t, verdict(ledger.Undecided, 0))
	check(t, l.RecordFence(t.Context(), hold, true, json.RawMessage(`{}`)))
	if err := verdict(ledger.NotApplied, 0); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("verdict on what was seen before the fence: %v, want refused", err)
	}
	observe(`{"files": 1}`)
	if err := verdict(ledger.NotApplied, 0); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("verdict on one observation: %v, want refused", err)
	}
	observe(`{"files": 2}`)
	if err := verdict(ledger.NotApplied, 0); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("verdict on two that differ: %v, want refused", err)
	}
	observe(`{ "files":2 }`) // the same JSON
	if err := verdict(ledger.NotApplied, time.Minute); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("verdict before it settled: %v, want refused", err)
	}
	check(t, verdict(ledger.NotApplied, 0))
	ago(t, db, hold, "2 min")
	observe(`{"files": 2}`)
	check(t, verdict(ledger.Conflict, time.Minute)) // a later verdict replaces the first
	a := attempt(t, l, hold)
	if a.Verdict != ledger.Conflict || a.VerdictAt == nil || strings.Count(string(a.Observations), "seen") != 6 {
		t.Fatalf("attempt %+v, want CONFLICT and six observations", a)
	}
	if err := verdict("MAYBE", 0); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("verdict MAYBE: %v, want ErrInvalid", err)
	}
	if err := l.RecordVerdict(t.Context(), ledger.Hold{Run: hold.Run, Token: ledger.NewToken()}, ledger.Judgement{Verdict: ledger.Undecided}); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("verdict of another token: %v, want ErrStale", err)
	}
}

// ago moves fence and observations of an attempt back in time.
func ago(t *testing.T, db ledgertest.Database, hold ledger.Hold, by string) {
	t.Helper()
	change(t, db, `UPDATE loadctl.load_publish SET fenced_at = fenced_at - $2::text::interval, observations = (SELECT json_agg(
  jsonb_set(o.value::jsonb, '{at}', to_jsonb((o.value ->> 'at')::timestamptz - $2::text::interval)) ORDER BY o.n)
  FROM json_array_elements(observations) WITH ORDINALITY AS o (value, n)) WHERE token = $1`, hold.Token, by)
}

func TestResolveFollowsTheVerdict(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	const refused = ledger.State("")
	for _, test := range []struct {
		verdict                      ledger.Verdict
		published, failed, republish ledger.State
		outcome                      string
	}{
		{"", ledger.Published, ledger.FailedPublish, refused, ledger.TargetUnverified},
		{ledger.Applied, ledger.Published, refused, refused, ""},
		{ledger.NotApplied, refused, ledger.FailedPublish, ledger.StagingValidated, ledger.TargetUnchanged},
		{ledger.Damaged, refused, ledger.FailedPublish, ledger.StagingValidated, ledger.TargetDamaged},
		{ledger.Conflict, ledger.Published, ledger.FailedPublish, refused, ledger.TargetUnverified},
		{ledger.Undecided, ledger.Published, ledger.FailedPublish, refused, ledger.TargetUnverified},
	} {
		for as, want := range map[ledger.ResolveAs]ledger.State{ledger.AsPublished: test.published, ledger.AsFailed: test.failed, ledger.AsRepublish: test.republish} {
			t.Run(string(test.verdict)+" "+string(as), func(t *testing.T) {
				hold := fenced(t, l, string(test.verdict)+"-"+string(as))
				if test.verdict != "" {
					judge(t, l, hold, test.verdict)
				}
				r, err := l.Resolve(t.Context(), hold, word(as))
				if want == refused {
					var no *ledger.ResolveError
					if !errors.As(err, &no) || !errors.Is(err, ledger.ErrTransition) || no.Verdict != test.verdict || state(t, l, hold.Run) != ledger.PublishUnknown {
						t.Fatalf("resolve: %s, %v, want refused with the verdict", r.State, err)
					}
					return
				}
				if err != nil || r.State != want || r.Message != "looked at it" || as == ledger.AsFailed && r.TargetOutcome != test.outcome {
					t.Fatalf("resolve: %s %q %q, %v, want %s %q", r.State, r.TargetOutcome, r.Message, err, want, test.outcome)
				}
				resolvedWell(t, l, hold, as)
			})
		}
	}
}

// resolvedWell checks what is recorded of a resolution, that a repeat is answered as recorded, and that what comes next is called for.
func resolvedWell(t *testing.T, l *ledger.Ledger, hold ledger.Hold, as ledger.ResolveAs) {
	t.Helper()
	seq := must(t)(l.Resolve(t.Context(), hold, word(as))).Seq
	if seq != must(t)(l.Run(t.Context(), hold.Run)).Seq {
		t.Fatal("a repeated resolution moved the run")
	}
	if a := attempt(t, l, hold); a.ResolvedAs != as || a.ResolvedBy != "alice" || a.Reason != "looked at it" || a.ResolvedAt == nil {
		t.Fatalf("attempt %+v, want resolved as %s by alice", a, as)
	}
	switch as {
	case ledger.AsPublished:
		own(t, l, hold.Run, ledger.ValidateTarget)
	case ledger.AsRepublish:
		if o := own(t, l, hold.Run, ledger.Publish); o.PublishAttempt != 2 || o.Hold.Token == hold.Token {
			t.Fatalf("owned %+v, want a second attempt with a new token", o)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	hold := unknown(t, l, "j")
	if _, err := l.Resolve(t.Context(), hold, word(ledger.AsPublished)); !errors.Is(err, ledger.ErrTransition) || !strings.Contains(err.Error(), "not fenced") {
		t.Errorf("not fenced: %v, want refused", err)
	}
	check(t, l.RecordFence(t.Context(), hold, true, json.RawMessage(`{}`)))
	for name, r := range map[string]ledger.Resolution{
		"no reason": {As: ledger.AsPublished, Reason: " "},
		"no word":   {Reason: "x"},
	} {
		if _, err := l.Resolve(t.Context(), hold, r); !errors.Is(err, ledger.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", name, err)
		}
	}
	if _, err := l.Resolve(t.Context(), ledger.Hold{Run: hold.Run, Token: ledger.NewToken()}, word(ledger.AsPublished)); !errors.Is(err, ledger.ErrStale) {
		t.Errorf("another token: %v, want ErrStale", err)
	}
	if _, err := l.Resolve(t.Context(), ledger.Hold{Run: staged(t, l, "k").ID}, word(ledger.AsPublished)); !errors.Is(err, ledger.ErrStale) {
		t.Errorf("STAGING_VALIDATED: %v, want ErrStale", err)
	}
}

// publish.unknown: prove lets a proof speak, and nothing that is less.
func TestOnlyProofResolvesByItself(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	for _, v := range []ledger.Verdict{"", ledger.Applied, ledger.NotApplied, ledger.Damaged, ledger.Conflict, ledger.Undecided} {
		for _, as := range []ledger.ResolveAs{ledger.AsPublished, ledger.AsFailed, ledger.AsRepublish} {
			hold := fenced(t, l, string(v)+string(as))
			if v != "" {
				judge(t, l, hold, v)
			}
			r := word(as)
			r.Proof = true
			_, err := l.Resolve(t.Context(), hold, r)
			proved := v == ledger.Applied && as == ledger.AsPublished || v == ledger.NotApplied && as == ledger.AsFailed
			if proved != (err == nil) || !proved && !errors.Is(err, ledger.ErrTransition) {
				t.Errorf("%q by proof as %s: %v, want taken %v", v, as, err, proved)
			}
		}
	}
}

// A result that comes after the fence changes nothing, whichever was faster.
func TestResolveAgainstALateResult(t *testing.T) {
	t.Parallel()
	const rounds = 12
	l, _ := open(t)
	n := int64(30)
	for i := range rounds {
		o := armed(t, l, strings.Repeat("x", i+1))
		var late error
		errs := together(2, func(i int) error {
			if i == 0 {
				_, late = l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n})
				return nil
			}
			_, err := l.Fence(t.Context(), o.Hold, "alice")
			return err
		})
		switch got := state(t, l, o.Hold.Run); {
		case got == ledger.Published && (late != nil || !errors.Is(errs[1], ledger.ErrStale)):
			t.Fatalf("PUBLISHED: result %v, fence %v, want the fence refused", late, errs[1])
		case got == ledger.PublishUnknown && (errs[1] != nil || !errors.Is(late, ledger.ErrStale)):
			t.Fatalf("PUBLISH_UNKNOWN: result %v, fence %v, want the result refused", late, errs[1])
		case got == ledger.Published:
			continue
		}
		check(t, l.RecordFence(t.Context(), o.Hold, true, json.RawMessage(`{}`)))
		judge(t, l, o.Hold, ledger.Applied)
		errs = together(2, func(i int) error {
			if i == 0 {
				return second(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishFailed, Target: ledger.TargetUnchanged}))
			}
			return second(l.Resolve(t.Context(), o.Hold, word(ledger.AsPublished)))
		})
		if !errors.Is(errs[0], ledger.ErrStale) || errs[1] != nil || state(t, l, o.Hold.Run) != ledger.Published {
			t.Fatalf("late result %v, resolve %v, run %s", errs[0], errs[1], state(t, l, o.Hold.Run))
		}
	}
}

// Two operators reconcile at once: one word is taken, the other is told.
func TestTwoReconcilers(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	o := armed(t, l, "j")
	words := []ledger.ResolveAs{ledger.AsFailed, ledger.AsRepublish}
	errs := together(2, func(i int) error {
		if _, err := l.Fence(t.Context(), o.Hold, "op"); err != nil {
			return err
		}
		if err := l.RecordFence(t.Context(), o.Hold, true, json.RawMessage(`{}`)); err != nil {
			return err
		}
		for range 2 {
			if _, err := l.RecordObservation(t.Context(), o.Hold, json.RawMessage(`{"files": 1}`)); err != nil {
				return err
			}
		}
		if err := l.RecordVerdict(t.Context(), o.Hold, ledger.Judgement{Verdict: ledger.NotApplied}); err != nil {
			return err
		}
		return second(l.Resolve(t.Context(), o.Hold, word(words[i])))
	})
	taken := 0
	for _, err := range errs {
		if err == nil {
			taken++
		} else if !errors.Is(err, ledger.ErrStale) {
			t.Errorf("reconcile: %v, want ErrStale", err)
		}
	}
	if taken != 1 {
		t.Fatalf("%d words taken, want 1: %v", taken, errors.Join(errs...))
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.load_history WHERE event IN ('resolved_failed', 'republish')"); n != 1 {
		t.Fatalf("%d resolutions in the history, want 1", n)
	}
}

// attempts of a publish stay readable as JSON, whatever is in them.
func TestAttemptIsReadWhole(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	hold := fenced(t, l, "j")
	judge(t, l, hold, ledger.Damaged)
	a := attempt(t, l, hold)
	if a.Mark != nil || a.Outcome != "unknown" || string(a.JudgedBy) != `{"rows": 30}` || a.ResolvedAs != "" || a.Token == uuid.Nil {
		t.Fatalf("attempt %+v", a)
	}
	if n := len(alerts(t, l, hold.Run, ledger.CodeTargetDamaged)); n != 1 {
		t.Fatalf("%d alerts of damage, want 1", n)
	}
	runs, err := l.List(t.Context(), ledger.Filter{Damaged: true})
	if err != nil || len(runs) != 1 || runs[0].ID != hold.Run {
		t.Fatalf("damaged runs %v, %v, want this one", runs, err)
	}
}
