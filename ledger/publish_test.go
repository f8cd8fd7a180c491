package ledger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

func TestArmOnlyOnceAndOnlyByItsToken(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := staged(t, l, "j")
	o := own(t, l, run.ID, ledger.Publish)
	if o.Run.State != ledger.Publishing || o.PublishAttempt != 1 || o.Run.PublishToken != o.Hold.Token {
		t.Fatalf("claimed %+v, want PUBLISHING, attempt 1", o)
	}
	other := ledger.Hold{Run: run.ID, Token: ledger.NewToken()}
	if err := l.Arm(t.Context(), other, arming()); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("arm by another token: %v, want ErrStale", err)
	}
	errs := together(8, func(int) error { return l.Arm(t.Context(), o.Hold, arming()) })
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, ledger.ErrStale) {
			t.Errorf("arm: %v, want ErrStale", err)
		}
	}
	if won != 1 {
		t.Fatalf("%d arms were let through, want 1", won)
	}
	attempts, err := l.Attempts(t.Context(), run.ID)
	check(t, err)
	if a := attempts[0]; a.ArmedAt == nil || a.Token != o.Hold.Token || string(a.Evidence) != `{"files": []}` || a.Instance != "h:10000" {
		t.Fatalf("attempt %+v, want armed with its evidence", a)
	}
}

func TestNotArmedGoesBackWithANewDispatch(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := staged(t, l, "j")
	first := own(t, l, run.ID, ledger.Publish)
	back := ledger.Result{Event: ledger.EventNotArmed, Message: "HiveServer2 is down", Retry: time.Hour}
	for range 2 { // a repeat is answered as recorded
		if r := must(t)(l.PublishResult(t.Context(), first.Hold, back)); r.State != ledger.StagingValidated {
			t.Fatalf("run is %s, want STAGING_VALIDATED", r.State)
		}
	}
	if due, err := l.DueSteps(t.Context(), ledger.DueRequest{Run: run.ID}); err != nil || len(due) != 0 {
		t.Fatalf("due %v, %v, want none before an hour", due, err)
	}
	change(t, db, "UPDATE loadctl.load_dispatch SET due_at = clock_timestamp() WHERE state = 'PENDING'")
	second := own(t, l, run.ID, ledger.Publish)
	if second.PublishAttempt != 2 {
		t.Fatalf("attempt %d, want 2", second.PublishAttempt)
	}
	if err := l.Arm(t.Context(), first.Hold, arming()); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("arm of the first attempt: %v, want ErrStale: its token can arm no more", err)
	}
	check(t, l.Arm(t.Context(), second.Hold, arming()))
	if _, err := l.PublishResult(t.Context(), second.Hold, back); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("an armed publish as not armed: %v, want ErrStale", err)
	}
}

func TestPublishResultNeedsAnArm(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := staged(t, l, "j")
	o := own(t, l, run.ID, ledger.Publish)
	n := int64(30)
	for _, r := range []ledger.Result{{Event: ledger.EventPublished, RowsWritten: &n}, {Event: ledger.EventPublishFailed, Target: ledger.TargetUnchanged}} {
		if _, err := l.PublishResult(t.Context(), o.Hold, r); !errors.Is(err, ledger.ErrStale) {
			t.Errorf("%s without an arm: %v, want ErrStale", r.Event, err)
		}
	}
	if err := l.PublishProgress(t.Context(), o.Hold, ledger.Sent{QueryID: "q"}); !errors.Is(err, ledger.ErrStale) {
		t.Errorf("progress without an arm: %v, want ErrStale", err)
	}
	if err := l.ReleaseStep(t.Context(), o.Hold, ledger.Later{}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("releasing a publish: %v, want ErrInvalid", err)
	}
	if _, err := l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishFailed}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("a failure that does not tell the target: %v, want ErrInvalid", err)
	}
	if _, err := l.Fail(t.Context(), o.Hold, ledger.Failure{Event: ledger.EventPublishFailed}); !errors.Is(err, ledger.ErrTransition) {
		t.Errorf("Fail of a publish: %v, want a TransitionError", err)
	}
}

func TestPublishUnknownStaysActive(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	o := armed(t, l, "j")
	run := must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishUnknown, Class: "unknown", Message: "connection cut"}))
	if run.State != ledger.PublishUnknown || run.Message != "connection cut" {
		t.Fatalf("run is %s: %s", run.State, run.Message)
	}
	entries, err := l.Events(t.Context(), run.ID)
	check(t, err)
	if n := slices.IndexFunc(entries, func(e ledger.Entry) bool { return e.Kind == ledger.KindAlert && e.Code == "PUBLISH_UNKNOWN" }); n < 0 {
		t.Fatalf("events %+v, want an alert", entries)
	}
	if _, err := l.Submit(t.Context(), request(t, "j")); !errors.Is(err, ledger.ErrDuplicate) {
		t.Fatalf("new run: %v, want DUPLICATE_ACTIVE_RUN", err)
	}
	if _, err := l.Cancel(t.Context(), run.ID, "op", "x"); !errors.Is(err, ledger.ErrTransition) {
		t.Fatalf("cancel: %v, want a TransitionError", err)
	}
	n := int64(30)
	if _, err := l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n}); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("a late result: %v, want ErrStale", err)
	}
}

// Between a change of the ledger's timeline and the comparison with the marks nothing leaves a gated state and nothing
// arms, whoever asks.
func TestNothingPublishesOnATimelineNotCompared(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	waiting, claimed, sent, unclaimed := staged(t, l, "a"), staged(t, l, "b"), armed(t, l, "c"), staged(t, l, "d")
	o := own(t, l, claimed.ID, ledger.Publish)
	compared := ask[string](t, db, "SELECT compared_timeline FROM loadctl.load_ledger")
	change(t, db, "UPDATE loadctl.load_ledger SET compared_timeline = 'another/00000001'")

	due, err := l.DueSteps(t.Context(), ledger.DueRequest{Run: unclaimed.ID})
	check(t, err)
	n := int64(30)
	for name, err := range map[string]error{
		"claim": func() error {
			_, err := l.OwnStep(t.Context(), ledger.OwnRequest{Dispatch: due[0].ID, Token: ledger.NewToken(), Lease: lease})
			return err
		}(),
		"arm":       l.Arm(t.Context(), o.Hold, arming()),
		"cancel":    second(l.Cancel(t.Context(), waiting.ID, "op", "x")),
		"published": second(l.PublishResult(t.Context(), sent.Hold, ledger.Result{Event: ledger.EventPublished, RowsWritten: &n})),
		"unknown":   second(l.PublishResult(t.Context(), sent.Hold, ledger.Result{Event: ledger.EventPublishUnknown})),
		"not armed": second(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventNotArmed})),
	} {
		if !errors.Is(err, ledger.ErrTimeline) {
			t.Errorf("%s: %v, want ErrTimeline", name, err)
		}
	}
	change(t, db, "UPDATE loadctl.load_ledger SET compared_timeline = $1", compared)
	// A claim of an earlier timeline arms no more, even after the comparison.
	change(t, db, "UPDATE loadctl.load_publish SET timeline = 'another/00000001' WHERE token = $1", o.Hold.Token)
	if err := l.Arm(t.Context(), o.Hold, arming()); !errors.Is(err, ledger.ErrTimeline) {
		t.Errorf("arm of an old claim: %v, want ErrTimeline", err)
	}
	if r := must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventNotArmed})); r.State != ledger.StagingValidated {
		t.Errorf("run is %s, want STAGING_VALIDATED", r.State)
	}
}

func second(_ ledger.Run, err error) error { return err }

func TestDamageHangsOnTheFlagUntilTheKeysNextSuccess(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := staged(t, l, "j")
	change(t, db, "UPDATE loadctl.load_run SET target_damaged = true WHERE id = $1", run.ID) // as a verdict does
	o := own(t, l, run.ID, ledger.Publish)
	check(t, l.Arm(t.Context(), o.Hold, arming()))
	r := must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishFailed, Target: ledger.TargetUnchanged, Message: "refused at compile"}))
	if r.TargetOutcome != ledger.TargetDamaged || !r.TargetDamaged {
		t.Fatalf("outcome %s, damaged %v: a failure must not say unchanged over damage", r.TargetOutcome, r.TargetDamaged)
	}
	verified(t, l, "j")
	if r := must(t)(l.Run(t.Context(), run.ID)); r.TargetDamaged {
		t.Fatal("still damaged after the key's next SUCCESS")
	}
}

func TestStagingAndTargetAreJudgedByWhatIsStored(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	null := ledger.Metric{Column: "A", Name: "sum"}
	for name, test := range map[string]struct {
		staging []ledger.Metric
		want    string
	}{
		"none":             {nil, "no metrics"},
		"other rows":       {rowsMetric("29"), "not equal"},
		"NULL with values": {append(rowsMetric("30")[:2], null), "NULL on one side"},
		"one missing":      {rowsMetric("30")[:2], "measured on one side only"},
		"one too many":     {append(rowsMetric("30"), ledger.Value("B", "sum", "1")), "measured on one side only"},
	} {
		t.Run(name, func(t *testing.T) {
			run := extracted(t, l, name)
			o := own(t, l, run.ID, ledger.ValidateStage)
			if _, err := l.StagingValidated(t.Context(), o.Hold, nil); !errors.Is(err, ledger.ErrInvalid) {
				t.Fatalf("not sealed: %v, want ErrInvalid", err)
			}
			check(t, l.Sealed(t.Context(), o.Hold, "job/run"))
			record(t, l, o.Hold, ledger.StageStream, rowsMetric("30"))
			diffs, err := l.RecordMetrics(t.Context(), o.Hold, ledger.StageStaging, test.staging)
			check(t, err)
			for range 2 { // a repeat is answered as recorded
				r, err := l.StagingValidated(t.Context(), o.Hold, nil)
				var m *ledger.MismatchError
				if !errors.As(err, &m) || r.State != ledger.FailedStageValidation || m.State != r.State || len(m.Diffs) != len(diffs) {
					t.Fatalf("run %s, %v, want FAILED_STAGE_VALIDATION with %d differences", r.State, err, len(diffs))
				}
				if m.Diffs[len(m.Diffs)-1].Why != test.want && m.Diffs[0].Why != test.want {
					t.Fatalf("differences %v, want %q", m.Diffs, test.want)
				}
				if r.Message != m.Diffs[0].String() {
					t.Fatalf("message %q, want %q", r.Message, m.Diffs[0])
				}
			}
		})
	}
}

func TestTargetMustEqualStaging(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := published(t, l, "j")
	o := own(t, l, run.ID, ledger.ValidateTarget)
	record(t, l, o.Hold, ledger.StageTarget, rowsMetric("29"))
	r, err := l.Verified(t.Context(), o.Hold, nil)
	if !errors.Is(err, ledger.ErrMismatch) || r.State != ledger.FailedTarget || r.Message != "rows: staging has 30, target has 29 (not equal)" {
		t.Fatalf("run %s: %s; %v, want FAILED_TARGET_VALIDATION with both values", r.State, r.Message, err)
	}
}

func TestMetricsOfOneTokenDoNotChange(t *testing.T) {
	t.Parallel()
	l, _ := open(t)
	run := extracted(t, l, "j")
	o := own(t, l, run.ID, ledger.ValidateStage)
	record(t, l, o.Hold, ledger.StageStream, rowsMetric("30"))
	record(t, l, o.Hold, ledger.StageStream, rowsMetric("30"))
	if _, err := l.RecordMetrics(t.Context(), o.Hold, ledger.StageStream, rowsMetric("31")); !errors.Is(err, ledger.ErrConflict) {
		t.Fatalf("other values: %v, want ErrConflict", err)
	}
	if _, err := l.RecordMetrics(t.Context(), o.Hold, ledger.StageTarget, rowsMetric("30")); !errors.Is(err, ledger.ErrStale) {
		t.Fatalf("target before it was published: %v, want ErrStale", err)
	}
	if _, err := l.RecordMetrics(t.Context(), o.Hold, ledger.StageSource, nil); !errors.Is(err, ledger.ErrInvalid) {
		t.Fatalf("source by a step: %v, want ErrInvalid", err)
	}
	ms, err := l.Validations(t.Context(), run.ID)
	check(t, err)
	if len(ms) != 3 || ms[0].Stage != ledger.StageStream || ms[0].Partition != -1 {
		t.Fatalf("validations %+v, want the stream's three", ms)
	}
	if _, err := json.Marshal(ms); err != nil {
		t.Fatal(err)
	}
}
