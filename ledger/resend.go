package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ResendRequest names a dispatch by its run or by its id.
type ResendRequest struct {
	Run      uuid.UUID // its newest step; uuid.Nil: by Dispatch
	Dispatch int64     // 0: by Run
	By       string    // the ledger's By if empty
	Reason   string
}

// Resend makes a step due now, with all its attempts again: one that is DEAD, that waits for its time, or whose owner's
// lease ran out. It guards: the run still is where the step serves it, and nobody works on it; else *StaleError, and the
// owner notices nothing. It is audited.
func (l *Ledger) Resend(ctx context.Context, req ResendRequest) (Run, error) {
	if req.Run == uuid.Nil {
		d, found, err := one[struct{ RunID uuid.UUID }](ctx, l.pool, "dispatch_run", args{"id": req.Dispatch})
		if err != nil || !found {
			return Run{}, errors.Join(l.connectError(err), noSuch(found, "dispatch", req.Dispatch))
		}
		req.Run = d.RunID
	}
	err := l.decide(ctx, func(tx pgx.Tx) error { return l.resend(ctx, tx, req) })
	if err != nil {
		return Run{}, fmt.Errorf("resend step: %w", err)
	}
	return l.Run(ctx, req.Run)
}

func (l *Ledger) resend(ctx context.Context, tx pgx.Tx, req ResendRequest) error {
	run, err := lock(ctx, tx, req.Run)
	if err != nil {
		return err
	}
	d, found, err := one[dispatchRow](ctx, tx, "dispatch_newest", args{"run": run.ID, "id": req.Dispatch})
	if err != nil || !found {
		return errors.Join(err, noSuch(found, "dispatch", req.Dispatch))
	}
	if why := notResent(run, d); why != "" {
		return &StaleError{What: fmt.Sprintf("%s (dispatch %d)", d.Kind, d.ID), Run: run.ID, State: d.State, Why: why}
	}
	if d.State == dispatchAcked {
		if _, err := exec(ctx, tx, "step_drop", args{"run": run.ID, "dispatch": d.ID}); err != nil {
			return err
		}
	}
	if err := execOne(ctx, tx, "dispatch_resend", args{"id": d.ID}); err != nil {
		return err
	}
	message := fmt.Sprintf("%s, after %d attempts: %s", d.Kind, d.Attempts, req.Reason)
	if err := l.event(ctx, tx, Entry{Run: run.ID, Kind: KindDispatch, Code: CodeResent, Message: message, By: req.By}); err != nil {
		return err
	}
	return notify(ctx, tx, run.ID)
}

// notResent says why a dispatch cannot be sent again, or nothing.
func notResent(run locked, d dispatchRow) string {
	step, err := d.Kind.step()
	switch {
	case err != nil:
		return err.Error()
	case run.State == Publishing || run.State == PublishUnknown:
		return "a publish is not sent again; reconcile it"
	case run.State != step.Serves && (step.Resumes == "" || run.State != step.Resumes):
		return fmt.Sprintf("the run is %s and has no use for it", run.State)
	case run.StepLive:
		return "somebody works on it"
	case d.State != dispatchPending && d.State != dispatchAcked && d.State != dispatchDead:
		return "it is over"
	}
	return ""
}
