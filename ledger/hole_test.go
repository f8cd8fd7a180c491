package ledger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// The tests of this file are named after what model checking has found: the holes (H) of an earlier text of the
// contract, and the mutants (M), each of which takes one guard away. Those of the ledger are here; each plays the trace
// that would come through without its guard.

// otherTimeline makes the ledger one that was not compared; the function puts it back.
func otherTimeline(t *testing.T, db ledgertest.Database) (compare func()) {
	t.Helper()
	compared := ask[string](t, db, "SELECT compared_timeline FROM loadctl.load_ledger")
	change(t, db, "UPDATE loadctl.load_ledger SET compared_timeline = 'another/00000001'")
	return func() { change(t, db, "UPDATE loadctl.load_ledger SET compared_timeline = $1", compared) }
}

// mark is what a publish of attempt n left in the store.
func mark(run uuid.UUID, n int, token uuid.UUID) ledger.Mark {
	return ledger.Mark{Run: run, Attempt: n, Token: token, Arming: arming(), By: "other@host"}
}

// Damage is not forgotten: not by a republish that is cancelled or times out before it arms, and not by a second attempt that is
// refused, which is true against its own evidence only.
func TestHole_H1_DamageIsNotForgotten(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	damaged := func(job string) uuid.UUID {
		hold := fenced(t, l, job)
		judge(t, l, hold, ledger.Damaged)
		must(t)(l.Resolve(t.Context(), hold, word(ledger.AsRepublish)))
		return hold.Run
	}
	cancelled, timedOut, refused, again := damaged("a"), damaged("b"), damaged("c"), damaged("d")
	must(t)(l.Cancel(t.Context(), cancelled, "alice", "x"))

	change(t, db, "UPDATE loadctl.load_run SET created_at = clock_timestamp() - interval '2 h' WHERE id = $1", timedOut)
	sweep(t, l, sweeping())

	o := own(t, l, refused, ledger.Publish)
	check(t, l.Arm(t.Context(), o.Hold, arming()))
	must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishFailed, Target: ledger.TargetUnchanged}))

	o = own(t, l, again, ledger.Publish)
	check(t, l.Arm(t.Context(), o.Hold, arming()))
	must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishUnknown}))
	check(t, l.RecordFence(t.Context(), o.Hold, true, json.RawMessage(`{}`)))
	judge(t, l, o.Hold, ledger.NotApplied)
	must(t)(l.Resolve(t.Context(), o.Hold, word(ledger.AsFailed)))

	for run, want := range map[uuid.UUID]ledger.State{cancelled: ledger.Cancelled, timedOut: ledger.TimedOut, refused: ledger.FailedPublish, again: ledger.FailedPublish} {
		r := must(t)(l.Run(t.Context(), run))
		if r.State != want || !r.TargetDamaged || r.TargetOutcome == ledger.TargetUnchanged {
			t.Errorf("run is %s, damaged %v, target %q, want %s and the damage told", r.State, r.TargetDamaged, r.TargetOutcome, want)
		}
	}
	if runs, err := l.List(t.Context(), ledger.Filter{Damaged: true}); err != nil || len(runs) != 4 {
		t.Errorf("%d runs damaged, %v, want 4: the alert hangs on the flag", len(runs), err)
	}
	verified(t, l, "a")
	if runs, err := l.List(t.Context(), ledger.Filter{Damaged: true}); err != nil || len(runs) != 3 {
		t.Errorf("%d runs damaged, %v, want 3: the key's next SUCCESS mends it", len(runs), err)
	}
}

// Operators A and B have both seen NOT_APPLIED of t1. B republishes; t2 removes the old files and is unknown. A's word is about t1.
func TestHole_H2_LateWordIsAboutItsOwnAttempt(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	first := fenced(t, l, "j")
	judge(t, l, first, ledger.NotApplied)
	must(t)(l.Resolve(t.Context(), first, word(ledger.AsRepublish)))
	second := own(t, l, first.Run, ledger.Publish).Hold
	check(t, l.Arm(t.Context(), second, arming()))
	must(t)(l.PublishResult(t.Context(), second, ledger.Result{Event: ledger.EventPublishUnknown}))
	check(t, l.RecordFence(t.Context(), second, true, json.RawMessage(`{}`)))
	_, observed := l.RecordObservation(t.Context(), first, json.RawMessage(`{}`))
	_, fence := l.Fence(t.Context(), first, "A")
	_, word := l.Resolve(t.Context(), first, word(ledger.AsFailed))
	for name, err := range map[string]error{
		"fence": fence, "recorded fence": l.RecordFence(t.Context(), first, true, json.RawMessage(`{}`)), "observation": observed,
		"verdict": l.RecordVerdict(t.Context(), first, ledger.Judgement{Verdict: ledger.Undecided}), "word": word,
	} {
		if !errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s of the first attempt: %v, want ErrStale", name, err)
		}
	}
	if got := state(t, l, first.Run); got != ledger.PublishUnknown {
		t.Fatalf("run is %s, want PUBLISH_UNKNOWN", got)
	}
}

// For a swap, NOT_APPLIED needs to have settled for as long as the metastore may still bring what was sent, counted from the fence.
func TestHole_H3_SettleCountsFromTheFence(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	hold := unknown(t, l, "j")
	observe := func() {
		_, err := l.RecordObservation(t.Context(), hold, json.RawMessage(`{"location": "old"}`))
		check(t, err)
	}
	observe()
	ago(t, db, hold, "1 h") // long before the fence
	check(t, l.RecordFence(t.Context(), hold, true, json.RawMessage(`{}`)))
	observe()
	observe()
	swap := ledger.Judgement{Verdict: ledger.NotApplied, Settle: 20 * time.Minute}
	if err := l.RecordVerdict(t.Context(), hold, swap); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("verdict right after the fence: %v, want refused", err)
	}
	ago(t, db, hold, "20 min")
	observe()
	check(t, l.RecordVerdict(t.Context(), hold, swap))
}

// A publisher that was claimed before a fail-over arms after it, when only its arm or less was lost.
func TestHole_H4_ClaimOfAnEarlierTimelineArmsNoMore(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	o := own(t, l, staged(t, l, "j").ID, ledger.Publish)
	compare := otherTimeline(t, db)
	change(t, db, "UPDATE loadctl.load_publish SET timeline = 'another/00000001'") // the claim is of before, as is the comparison
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("arm before the comparison: %v, want ErrTimeline", err)
	}
	compare()
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("arm after the comparison: %v, want ErrTimeline", err)
	}
}

// Until the marks were compared, nothing acts on an arm that may have been forgotten.
func TestHole_H5_EverythingWaitsForTheComparison(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	waits, claimed, sent, hold := staged(t, l, "a"), own(t, l, staged(t, l, "b").ID, ledger.Publish), armed(t, l, "c"), fenced(t, l, "d")
	for range 2 {
		_, err := l.RecordObservation(t.Context(), hold, json.RawMessage(`{}`))
		check(t, err)
	}
	old := verified(t, l, "e")
	silent(t, db)
	change(t, db, "UPDATE loadctl.load_run SET created_at = clock_timestamp() - interval '2 h', state_since = clock_timestamp() - interval '30 d'")
	compare := otherTimeline(t, db)
	if s := sweep(t, l, sweeping()); deeds(s) != "OVERDUE OVERDUE OVERDUE" {
		t.Errorf("swept %+v, want only alerts", s)
	}
	_, f1 := l.Fence(t.Context(), claimed.Hold, "op")
	_, f2 := l.Fence(t.Context(), sent.Hold, "op")
	_, clean := l.Cleanable(t.Context(), ledger.Retention{}, 10)
	for name, err := range map[string]error{
		"cancel": second(l.Cancel(t.Context(), waits.ID, "op", "x")), "fence, not armed": f1, "fence, armed": f2,
		"verdict":   l.RecordVerdict(t.Context(), hold, ledger.Judgement{Verdict: ledger.Damaged}),
		"word":      second(l.Resolve(t.Context(), hold, word(ledger.AsPublished))),
		"cleanable": clean, "cleaned": l.Cleaned(t.Context(), old.ID, nil),
	} {
		if !errors.Is(err, ledger.ErrTimeline) {
			t.Errorf("%s: %v, want ErrTimeline", name, err)
		}
	}
	for run, want := range map[uuid.UUID]ledger.State{waits.ID: ledger.StagingValidated, claimed.Hold.Run: ledger.Publishing, sent.Hold.Run: ledger.Publishing, hold.Run: ledger.PublishUnknown} {
		if r := must(t)(l.Run(t.Context(), run)); r.State != want || r.TargetDamaged {
			t.Errorf("run is %s, damaged %v, want %s", r.State, r.TargetDamaged, want)
		}
	}
	compare()
	if s := sweep(t, l, sweeping()); deeds(s) != "PUBLISH_BACK PUBLISH_UNKNOWN TIMED_OUT" {
		t.Errorf("swept %+v after the comparison, want what had waited", s)
	}
}

// A run whose publish the ledger has lost is put under its newest mark, through the gate, and stays there.
func TestHole_H6_LostPublishIsFoundByItsMark(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	lostClaim, lostArm := staged(t, l, "a").ID, own(t, l, staged(t, l, "b").ID, ledger.Publish).Hold
	otherToken, again := own(t, l, staged(t, l, "c").ID, ledger.Publish).Hold, unknown(t, l, "d")
	gaveBack := own(t, l, staged(t, l, "e").ID, ledger.Publish).Hold // between its mark and its arm
	must(t)(l.PublishResult(t.Context(), gaveBack, ledger.Result{Event: ledger.EventNotArmed}))
	compare := otherTimeline(t, db)
	marks := []ledger.Mark{mark(gaveBack.Run, 1, gaveBack.Token), mark(lostClaim, 1, ledger.NewToken()), mark(lostArm.Run, 1, lostArm.Token), mark(otherToken.Run, 1, ledger.NewToken()), mark(again.Run, 2, ledger.NewToken())}
	marks[1].Damaged = true
	for _, m := range marks {
		if adopted, err := l.MarkFound(t.Context(), m); err != nil || !adopted {
			t.Fatalf("mark %+v: %v, %v, want adopted", m, adopted, err)
		}
		if adopted, err := l.MarkFound(t.Context(), m); err != nil || adopted {
			t.Fatalf("mark %+v again: %v, %v, want nothing new", m, adopted, err)
		}
	}
	compare()
	for _, m := range marks {
		r := must(t)(l.Run(t.Context(), m.Run))
		if r.State != ledger.PublishUnknown || r.PublishToken != m.Token || r.TargetDamaged != m.Damaged || len(alerts(t, l, r.ID, ledger.CodeLedgerMismatch)) != 1 {
			t.Errorf("run %s is %s under %s, want PUBLISH_UNKNOWN under the mark's token with an alert", r.Job, r.State, r.PublishToken)
		}
		a := attempt(t, l, ledger.Hold{Run: m.Run, Token: m.Token})
		if a.ArmedAt == nil || a.Mark == nil || *a.Mark != m.Attempt || string(a.Session) != string(m.Session) || string(a.Evidence) != string(m.Evidence) {
			t.Errorf("attempt %+v, want armed, with the mark's session and evidence", a)
		}
		if f, err := l.Fence(t.Context(), ledger.Hold{Run: m.Run, Token: m.Token}, "op"); err != nil || f.NeverArmed {
			t.Errorf("fence what was found: %+v, %v, want its session to be closed", f, err)
		}
	}
	// The publishers that the ledger had known arm no more.
	for _, hold := range []ledger.Hold{lostArm, otherToken} {
		if err := l.Arm(t.Context(), hold, arming()); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("arm: %v, want ErrStale", err)
		}
	}
	// A republish takes a number that no mark has.
	hold := ledger.Hold{Run: otherToken.Run, Token: marks[3].Token}
	check(t, l.RecordFence(t.Context(), hold, true, json.RawMessage(`{}`)))
	judge(t, l, hold, ledger.NotApplied)
	must(t)(l.Resolve(t.Context(), hold, word(ledger.AsRepublish)))
	if o := own(t, l, hold.Run, ledger.Publish); o.PublishAttempt != 3 {
		t.Errorf("attempt %d, want 3", o.PublishAttempt)
	}
}

// The evidence is stored by the arm itself: there is no arm without it, and no evidence of a claim that did not arm.
func TestHole_H7_EvidenceComesWithTheArm(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	o := own(t, l, staged(t, l, "j").ID, ledger.Publish)
	if a := attempt(t, l, o.Hold); len(a.Evidence) != 0 || a.ArmedAt != nil {
		t.Fatalf("attempt %+v, want no evidence before the arm", a)
	}
	change(t, db, "UPDATE loadctl.load_publish SET timeline = 'another/00000001'")
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrTimeline) {
		t.Fatalf("arm of an earlier timeline: %v, want ErrTimeline", err)
	}
	if a := attempt(t, l, o.Hold); len(a.Evidence) != 0 || a.ArmedAt != nil {
		t.Fatalf("attempt %+v, want no evidence of an arm that was refused", a)
	}
	r := must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventNotArmed}))
	next := own(t, l, r.ID, ledger.Publish) // a new claim, of the current timeline
	check(t, l.Arm(t.Context(), next.Hold, arming()))
	if a := attempt(t, l, next.Hold); string(a.Evidence) != `{"files": []}` {
		t.Fatalf("attempt %+v, want its own evidence", a)
	}
}

// A worker that gives its partition back leaves no chunk that counts: the next attempt's are sealed alone.
func TestHole_H9_RetryVoidsItsChunks(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := planned(t, l, "j", 5)
	for _, counted := range []bool{true, false} {
		c := claim(t, l, run.ID)
		check(t, l.ReportChunk(t.Context(), c.Held, chunk(c, 0, 5)))
		_, err := l.RetryPartition(t.Context(), c.Held, ledger.Lost{Counted: counted})
		check(t, err)
	}
	c := claim(t, l, run.ID)
	extract(t, l, c)
	files, err := l.Files(t.Context(), run.ID)
	if err != nil || len(files) != 1 || files[0].Token != c.Token {
		t.Fatalf("files %+v, %v, want those of the attempt that won", files, err)
	}
}

// plan.count: alongside. A partition that has finished and waits for its count has no heartbeat and is not lost.
func TestHole_H10_FinishedPartitionIsNeverStale(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	run := planned(t, l, "j", 5)
	c := claim(t, l, run.ID)
	change(t, db, "UPDATE loadctl.load_partition SET expected_rows = NULL")
	if out := extract(t, l, c); out.Partition != ledger.PartitionRunning {
		t.Fatalf("partition is %s, want RUNNING: its count is not known", out.Partition)
	}
	silent(t, db)
	for _, mode := range []ledger.RecoveryMode{ledger.ModeReissue, ledger.ModeFail} {
		o := sweeping()
		o.Mode = mode
		if s := sweep(t, l, o); len(s.Deeds) != 0 {
			t.Fatalf("swept %+v, want nothing", s)
		}
	}
	if _, err := l.Reissue(t.Context(), reissue(run.ID, 0)); !errors.Is(err, ledger.ErrTransition) {
		t.Fatalf("reissue: %v, want refused", err)
	}
	change(t, db, "UPDATE loadctl.load_run SET created_at = clock_timestamp() - interval '2 h'")
	if s := sweep(t, l, sweeping()); deeds(s) != "TIMED_OUT" {
		t.Fatalf("swept %+v, want run_timeout to bound the wait", s)
	}
}

// M1: without the CAS of the arm, a publisher that was found gone would send under nobody's token.
func TestMutant_M1_SweptPublisherCannotArm(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	o := own(t, l, staged(t, l, "j").ID, ledger.Publish)
	silent(t, db)
	if s := sweep(t, l, sweeping()); deeds(s) != "PUBLISH_BACK" {
		t.Fatalf("swept %+v", s)
	}
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("arm of a publisher that was found gone: %v, want ErrStale", err)
	}
	next := own(t, l, o.Hold.Run, ledger.Publish)
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("arm beside the next attempt: %v, want ErrStale", err)
	}
	check(t, l.Arm(t.Context(), next.Hold, arming()))
}

// M2, M3: a fence that could not close the session is none: nothing but UNDECIDED, and no word.
func TestMutant_M2_NoVerdictWithoutAClosedSession(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	hold := unknown(t, l, "j")
	check(t, l.RecordFence(t.Context(), hold, false, json.RawMessage(`{"why": "no query found to cancel"}`)))
	for range 2 {
		_, err := l.RecordObservation(t.Context(), hold, json.RawMessage(`{}`))
		check(t, err)
	}
	for _, v := range []ledger.Verdict{ledger.Applied, ledger.NotApplied, ledger.Damaged, ledger.Conflict} {
		if err := l.RecordVerdict(t.Context(), hold, ledger.Judgement{Verdict: v}); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s: %v, want refused", v, err)
		}
	}
	check(t, l.RecordVerdict(t.Context(), hold, ledger.Judgement{Verdict: ledger.Undecided}))
	if _, err := l.Resolve(t.Context(), hold, word(ledger.AsFailed)); !errors.Is(err, ledger.ErrTransition) {
		t.Errorf("resolve: %v, want refused while not fenced", err)
	}
}

// M5: claim and arm are forgotten; without the comparison the run would be cancelled and its statement land after its end.
func TestMutant_M5_ForgottenClaimIsNotCancelled(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := staged(t, l, "j")
	compare := otherTimeline(t, db) // claim and arm were in the tail
	if _, err := l.Cancel(t.Context(), run.ID, "op", "x"); !errors.Is(err, ledger.ErrTimeline) {
		t.Fatalf("cancel before the comparison: %v, want ErrTimeline", err)
	}
	_, err := l.MarkFound(t.Context(), mark(run.ID, 1, ledger.NewToken()))
	check(t, err)
	compare()
	if _, err := l.Cancel(t.Context(), run.ID, "op", "x"); !errors.Is(err, ledger.ErrTransition) {
		t.Fatalf("cancel after it: %v, want refused: PUBLISH_UNKNOWN", err)
	}
	if _, err := l.Submit(t.Context(), request(t, "j")); !errors.Is(err, ledger.ErrDuplicate) {
		t.Fatalf("another run: %v, want DUPLICATE_ACTIVE_RUN", err)
	}
}

// M6: if UNKNOWN were not active, a second run of the target would be made and claim.
func TestMutant_M6_UnknownBlocksItsTarget(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	unknown(t, l, "j")
	other := request(t, "k")
	other.TargetID = "wh/j"
	if _, err := l.Submit(t.Context(), other); !errors.Is(err, ledger.ErrTargetBusy) {
		t.Fatalf("another job: %v, want TARGET_BUSY", err)
	}
	if _, err := l.Submit(t.Context(), request(t, "j")); !errors.Is(err, ledger.ErrDuplicate) {
		t.Fatalf("another run: %v, want DUPLICATE_ACTIVE_RUN", err)
	}
}

// M9: without a dispatch on every way back into STAGING_VALIDATED nobody would ever publish: the one that was there is
// DONE, superseded while the run was PUBLISHING.
func TestMutant_M9_EveryWayBackHasItsDispatch(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	superseded := func(job string) ledger.Hold {
		o := own(t, l, staged(t, l, job).ID, ledger.Publish)
		change(t, db, "UPDATE loadctl.load_run SET step_lease_until = clock_timestamp() - interval '1 h' WHERE id = $1", o.Hold.Run)
		if o, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: due(t, l, o.Hold.Run).ID, Token: ledger.NewToken(), Lease: lease}); err != nil || o.Owned {
			t.Fatalf("own while PUBLISHING: %+v, %v", o, err)
		}
		return o.Hold
	}
	ways := map[string]func() uuid.UUID{
		"sweeper": func() uuid.UUID {
			hold := superseded("a")
			sweep(t, l, sweeping())
			return hold.Run
		},
		"publisher": func() uuid.UUID {
			hold := superseded("b")
			must(t)(l.PublishResult(t.Context(), hold, ledger.Result{Event: ledger.EventNotArmed}))
			return hold.Run
		},
		"fence": func() uuid.UUID {
			hold := superseded("c")
			_, err := l.Fence(t.Context(), hold, "op")
			check(t, err)
			return hold.Run
		},
		"never armed after all": func() uuid.UUID {
			hold := superseded("e")
			must(t)(l.PublishResult(t.Context(), hold, ledger.Result{Event: ledger.EventPublishUnknown}))
			must(t)(l.NeverArmed(t.Context(), hold, "the mark is half a file", "op"))
			return hold.Run
		},
		"republish": func() uuid.UUID {
			hold := fenced(t, l, "d")
			judge(t, l, hold, ledger.NotApplied)
			must(t)(l.Resolve(t.Context(), hold, word(ledger.AsRepublish)))
			return hold.Run
		},
	}
	for name, way := range ways {
		run := way()
		if got := state(t, l, run); got != ledger.StagingValidated {
			t.Fatalf("%s: run is %s, want STAGING_VALIDATED", name, got)
		}
		own(t, l, run, ledger.Publish)
	}
	// No edge into a state that calls for a dispatch is forgotten in this test.
	edges := slices.DeleteFunc(slices.Clone(ledger.Transitions), func(tr ledger.Transition) bool { return tr.To != ledger.StagingValidated })
	if len(edges) != 4 { // staged, not_armed from two states, republish
		t.Fatalf("%d edges into STAGING_VALIDATED, want those above", len(edges))
	}
}

// M10: two last reports that do not see each other. The lock of the run makes them see; and the sweeper would find what they left.
func TestMutant_M10_LastReportsAndSweeperMoveTheRunOnce(t *testing.T) {
	t.Parallel()
	const runs = 60
	db := openDB(t)
	l := db.Open(t, ledger.Config{MaxConns: 20})
	makeRunning(t, db, runs)
	ticked(t, db)
	for g := 1; g <= runs; g++ {
		check(t, errors.Join(together(3, func(p int) (err error) {
			if p == 2 {
				_, err = l.Sweep(t.Context(), sweeping())
				return err
			}
			_, err = l.FinishPartition(t.Context(), running(g, p), ledger.FinishReport{Chunks: 1, Rows: int64(p) + 1})
			return err
		})...))
	}
	for what, sql := range map[string]string{
		"runs moved once": "SELECT count(*)::int FROM loadctl.load_run WHERE state = 'EXTRACTED_VALIDATED' AND seq = 2",
		"transitions":     "SELECT count(*)::int FROM loadctl.load_history WHERE event = 'extracted'",
		"dispatches":      "SELECT count(*)::int FROM loadctl.load_dispatch WHERE kind = 'VALIDATE_STAGE' AND state = 'PENDING'",
	} {
		if n := ask[int](t, db, sql); n != runs {
			t.Errorf("%s: %d, want %d", what, n, runs)
		}
	}
}

// M11: without the token a late report of a voided attempt would count as the new one's.
func TestMutant_M11_LateReportIsOfNobody(t *testing.T) {
	t.Parallel()
	l, db := settled(t, ledger.Config{})
	run := planned(t, l, "j", 5)
	old := claim(t, l, run.ID)
	check(t, l.ReportChunk(t.Context(), old.Held, chunk(old, 0, 5)))
	silent(t, db)
	sweep(t, l, sweeping())
	fresh := claim(t, l, run.ID)
	for name, err := range map[string]error{
		"chunk":        l.ReportChunk(t.Context(), old.Held, chunk(old, 1, 5)),
		"voided chunk": l.ReportChunk(t.Context(), old.Held, chunk(old, 0, 5)),
		"finish": func() error {
			_, err := l.FinishPartition(t.Context(), old.Held, ledger.FinishReport{Chunks: 1, Rows: 5})
			return err
		}(),
		"retry": func() error { _, err := l.RetryPartition(t.Context(), old.Held, ledger.Lost{}); return err }(),
		"fail":  second(l.FailPartition(t.Context(), old.Held, ledger.Failure{Event: ledger.EventExtractFailed})),
	} {
		if !errors.Is(err, ledger.ErrClaimMismatch) {
			t.Errorf("late %s: %v, want CLAIM_MISMATCH", name, err)
		}
	}
	if b, err := l.Heartbeat(t.Context(), old.Held, 5, lease); err != nil || b.Owned {
		t.Errorf("late heartbeat: %+v, %v, want not owned", b, err)
	}
	extract(t, l, fresh)
	files, err := l.Files(t.Context(), run.ID)
	if err != nil || len(files) != 1 || files[0].Token != fresh.Token {
		t.Errorf("files %+v, %v, want the new attempt's alone", files, err)
	}
}
