package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Classes of what the ledger itself finds. The other classes come from its callers, in the same form.
const (
	classMismatch  = "MISMATCH"   // values differ
	classCancelled = "CANCELLED"  // a person ended the run
	classTimedOut  = "TIMED_OUT"  // the run passed its time limit
	classLeaseLost = "LEASE_LOST" // an owner did not renew in time
	classRunFailed = "RUN_FAILED" // a person's word, or a proof, ended the run
)

// Failure is why a run ends.
type Failure struct {
	Event   Event
	Class   string // what kind of error it is
	Message string // what, where, what it means
	Detail  json.RawMessage
}

// failing are the events of Fail, and whether the step's token must be named. Publishing fails by PublishResult,
// because it must say what became of the target.
func failing(e Event) bool {
	switch e {
	case EventManifestBroken, EventSnapshotGone, EventExtractFailed, EventStageFailed, EventTargetFailed:
		return true
	}
	return false
}

// Fail ends a run by one of the failing events. It guards: the table has the edge (*TransitionError otherwise), and,
// unless the run is EXTRACTING, the token owns the step. A repeat under the same token is answered as recorded.
func (l *Ledger) Fail(ctx context.Context, hold Hold, f Failure) (Run, error) {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, hold.Run)
		if err != nil {
			return err
		}
		if _, done, err := repeated(ctx, tx, hold.Run, hold.Token, f.Event); err != nil || done {
			return err
		}
		if _, err := Next(run.State, f.Event); err != nil || !failing(f.Event) {
			return &TransitionError{From: run.State, Event: f.Event}
		}
		if run.State != Extracting && !run.holds(hold.Token) {
			return run.stale("the step is not this token's")
		}
		_, err = l.advance(ctx, tx, run, move{event: f.Event, token: hold.Token, class: f.Class, message: f.Message, detail: f.Detail})
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("fail run: %w", err)
	}
	return l.Run(ctx, hold.Run)
}

// Cancel ends a run by a person's word. It guards that the run has not begun to touch its target (*TransitionError
// otherwise). Workers learn of it by their next heartbeat. A run that is cancelled already is answered as recorded.
func (l *Ledger) Cancel(ctx context.Context, id uuid.UUID, by, reason string) (Run, error) {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, id)
		if err != nil || run.State == Cancelled {
			return err
		}
		if _, err := Next(run.State, EventCancel); err != nil {
			return &TransitionError{From: run.State, Event: EventCancel, Why: NotCancelled(run.State)}
		}
		_, err = l.advance(ctx, tx, run, move{event: EventCancel, by: by, class: classCancelled, message: reason})
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("cancel run: %w", err)
	}
	return l.Run(ctx, id)
}

// NotCancelled says why a run in this state is not cancelled.
func NotCancelled(s State) string {
	switch s {
	case Publishing:
		return "its statement may be changing the target and cannot be taken back; wait for it, or reconcile the run"
	case PublishUnknown:
		return "whether the target changed is not known; reconcile the run and resolve it"
	case Published:
		return "the target has changed; its validation ends the run"
	}
	return "it is over"
}
