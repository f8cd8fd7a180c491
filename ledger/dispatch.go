package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Due is a row of the outbox that somebody should own. Being handed it proves nothing: it may have been handed to
// others, and its run may have moved on. OwnStep tells.
type Due struct {
	ID       int64
	Run      uuid.UUID
	Job      string
	Source   string
	Kind     Dispatch
	Attempts int // owned so often already
	DueAt    time.Time
}

// DueRequest narrows what is fetched.
type DueRequest struct {
	Run     uuid.UUID // uuid.Nil: of any run
	Sources []string  // only runs that read these; empty: any
	Limit   int
}

// DueSteps fetches rows that are due: PENDING, or ACKED by an owner whose lease has run out.
func (l *Ledger) DueSteps(ctx context.Context, req DueRequest) ([]Due, error) {
	due, err := many[Due](ctx, l.pool, "dispatch_due", args{"run": nullUUID(req.Run), "sources": req.Sources, "limit": max(req.Limit, 1), "binary": Version})
	if err != nil {
		return nil, fmt.Errorf("fetch due steps: %w", l.connectError(err))
	}
	return due, nil
}

// OwnRequest asks for the ownership of a step.
type OwnRequest struct {
	Dispatch int64
	Token    uuid.UUID // made by the caller; for PUBLISH it is the publish token
	Owner    string    // for people; the ledger's By if empty
	Lease    time.Duration
}

// Ownership is the answer to OwnStep. Unless Owned, the caller has nothing to do with the step.
type Ownership struct {
	Owned          bool
	Why            string // not owned, for the log
	Hold           Hold
	Kind           Dispatch
	Attempt        int // of the dispatch, from 1
	PublishAttempt int // of a PUBLISH: n in the name of the mark
	Run            Run // as it is after the step has begun
}

// dispatchRow is what a decision reads of a dispatch while it holds its row.
type dispatchRow struct {
	ID       int64
	RunID    uuid.UUID
	Kind     Dispatch
	State    string
	IsDue    bool
	Attempts int
	Token    *uuid.UUID
}

// Dispatch states.
const (
	dispatchPending = "PENDING"
	dispatchAcked   = "ACKED"
	dispatchDead    = "DEAD"
)

// OwnStep acknowledges a dispatch: in one transaction the row is ACKED, the step's token and lease are written on the
// run, the attempt is counted, and the state change that the step starts with is made. The work starts after it. It
// guards: one owner at a time; the run is where the dispatch serves it, else the row is DONE as superseded; no more
// than the allowed attempts, else the row is DEAD with an alert. For PUBLISH it is the claim of the publish: attempt n
// with the token, on the current timeline. The same token again succeeds again.
func (l *Ledger) OwnStep(ctx context.Context, req OwnRequest) (Ownership, error) {
	if req.Token == uuid.Nil || req.Lease <= 0 {
		return Ownership{}, invalid("own step: token and lease are required")
	}
	if req.Owner == "" {
		req.Owner = l.cfg.By
	}
	run, found, err := one[struct{ RunID uuid.UUID }](ctx, l.pool, "dispatch_run", args{"id": req.Dispatch})
	if err != nil || !found {
		return Ownership{}, errors.Join(l.connectError(err), noSuch(found, "dispatch", req.Dispatch))
	}
	var own Ownership
	err = l.decide(ctx, func(tx pgx.Tx) (err error) {
		own, err = l.own(ctx, tx, run.RunID, req)
		return err
	})
	if err != nil {
		return Ownership{}, fmt.Errorf("own step: %w", err)
	}
	if own.Owned {
		own.Hold = Hold{Run: run.RunID, Token: req.Token}
		own.Run, err = l.Run(ctx, run.RunID)
		own.PublishAttempt = own.Run.PublishAttempt
	}
	return own, err
}

func (l *Ledger) own(ctx context.Context, tx pgx.Tx, id uuid.UUID, req OwnRequest) (Ownership, error) {
	run, err := lock(ctx, tx, id)
	if err != nil {
		return Ownership{}, err
	}
	d, _, err := one[dispatchRow](ctx, tx, "dispatch_lock", args{"id": req.Dispatch})
	if err != nil {
		return Ownership{}, err
	}
	step, err := d.Kind.step()
	if err != nil {
		return Ownership{}, err
	}
	own := Ownership{Kind: d.Kind, Attempt: d.Attempts}
	switch {
	case d.State == dispatchAcked && run.holds(req.Token) && *run.StepDispatch == d.ID:
		own.Owned = true
		return own, l.renew(ctx, tx, Hold{Run: id, Token: req.Token}, req.Lease)
	case d.State != dispatchPending && d.State != dispatchAcked:
		own.Why = "the dispatch is " + d.State
		return own, nil
	case run.StepLive:
		own.Why = "another owner holds the step"
		return own, nil
	case run.State != step.Serves && (step.Resumes == "" || run.State != step.Resumes):
		own.Why = fmt.Sprintf("the run is %s", run.State)
		_, err := exec(ctx, tx, "dispatch_supersede", args{"id": d.ID})
		return own, err
	case d.State == dispatchPending && !d.IsDue:
		own.Why = "the dispatch is not due yet"
		return own, nil
	case d.Attempts >= l.cfg.DispatchAttempts:
		own.Why = "the dispatch is dead"
		return own, l.bury(ctx, tx, d, leaseLost())
	}
	own.Owned, own.Attempt = true, d.Attempts+1
	return own, l.beginStep(ctx, tx, run, d, step, req)
}

// beginStep makes the caller the owner and makes the state change that the step starts with.
func (l *Ledger) beginStep(ctx context.Context, tx pgx.Tx, run locked, d dispatchRow, step DispatchRow, req OwnRequest) error {
	if run.State == step.Serves && step.Begin != "" {
		if step.Begin == EventPublishClaim {
			if err := claimPublish(ctx, tx, run, req); err != nil {
				return err
			}
		}
		if _, err := l.advance(ctx, tx, run, move{event: step.Begin, token: req.Token, by: req.Owner, keep: d.ID}); err != nil {
			return err
		}
	}
	if err := execOne(ctx, tx, "dispatch_ack", args{"id": d.ID, "token": req.Token}); err != nil {
		return err
	}
	return execOne(ctx, tx, "step_own", args{"run": run.ID, "step": d.Kind, "dispatch": d.ID, "token": req.Token, "owner": req.Owner, "lease": req.Lease})
}

// claimPublish makes the row of the next publish attempt, with the timeline that its arm will compare.
func claimPublish(ctx context.Context, tx pgx.Tx, run locked, req OwnRequest) error {
	attempt := run.PublishAttempt + 1
	if err := execOne(ctx, tx, "publish_claim", args{"run": run.ID, "attempt": attempt, "token": req.Token, "owner": req.Owner}); err != nil {
		return err
	}
	return execOne(ctx, tx, "run_publish", args{"run": run.ID, "attempt": attempt, "token": req.Token})
}

// bury ends a dispatch whose attempts are used up. It fails nothing by itself: an alert calls for a person, with the
// class and the message of the last attempt.
func (l *Ledger) bury(ctx context.Context, tx pgx.Tx, d dispatchRow, last Later) error {
	if _, err := exec(ctx, tx, "dispatch_bury", args{"id": d.ID}); err != nil {
		return err
	}
	if _, err := exec(ctx, tx, "step_drop", args{"run": d.RunID, "dispatch": d.ID}); err != nil {
		return err
	}
	detail, err := json.Marshal(map[string]any{"class": last.Class, "kind": d.Kind, "dispatch": d.ID, "attempts": d.Attempts})
	if err != nil {
		return err
	}
	return l.event(ctx, tx, Entry{Run: d.RunID, Kind: KindAlert, Code: CodeDispatchDead, Detail: detail,
		Message: fmt.Sprintf("%s was tried %d times and is given up; resend it once its cause is gone: %s", d.Kind, d.Attempts, last.Message)})
}

// leaseLost is how an attempt ended whose owner was not heard of any more.
func leaseLost() Later {
	return Later{Counted: true, Class: classLeaseLost, Message: "its owner did not renew the lease"}
}

// RenewStep extends the lease of a step. It guards that the token still owns it; *StaleError otherwise.
func (l *Ledger) RenewStep(ctx context.Context, hold Hold, lease time.Duration) error {
	err := l.decide(ctx, func(tx pgx.Tx) error { return l.renew(ctx, tx, hold, lease) })
	if err != nil {
		return fmt.Errorf("renew step: %w", err)
	}
	return nil
}

func (l *Ledger) renew(ctx context.Context, tx pgx.Tx, hold Hold, lease time.Duration) error {
	n, err := exec(ctx, tx, "step_renew", args{"run": hold.Run, "token": hold.Token, "lease": lease})
	if err != nil || n == 1 {
		return err
	}
	run, err := lock(ctx, tx, hold.Run)
	if err != nil {
		return err
	}
	return run.stale("the step is not this token's")
}

// Later says when a released step is due again and why it was released.
type Later struct {
	After   time.Duration
	Counted bool // false for a hand-back at shutdown: the attempt does not count
	Class   string
	Message string
}

// ReleaseStep puts an owned step back: the dispatch is PENDING again. It guards that the token owns the step, and that
// the step can be resumed: a publish is given back by PublishResult. Counted attempts that are used up make it DEAD.
// Repeated after ErrCommitUnknown it answers ErrStale, which then means that it was done.
func (l *Ledger) ReleaseStep(ctx context.Context, hold Hold, later Later) error {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, hold.Run)
		if err != nil {
			return err
		}
		if !run.holds(hold.Token) {
			return run.stale("the step is not this token's")
		}
		if run.State == Publishing {
			return invalid("release step: a publish is given back by its result")
		}
		d, _, err := one[dispatchRow](ctx, tx, "dispatch_lock", args{"id": *run.StepDispatch})
		if err != nil {
			return err
		}
		if later.Counted && d.Attempts >= l.cfg.DispatchAttempts {
			return l.bury(ctx, tx, d, later)
		}
		return l.release(ctx, tx, hold, d, later)
	})
	if err != nil {
		return fmt.Errorf("release step: %w", err)
	}
	return nil
}

func (l *Ledger) release(ctx context.Context, tx pgx.Tx, hold Hold, d dispatchRow, later Later) error {
	if _, err := exec(ctx, tx, "step_drop", args{"run": hold.Run, "dispatch": d.ID}); err != nil {
		return err
	}
	if _, err := exec(ctx, tx, "dispatch_release", args{"id": d.ID, "uncounted": !later.Counted, "after": later.After}); err != nil {
		return err
	}
	detail, err := json.Marshal(map[string]any{"class": later.Class, "after": later.After.String(), "attempt": d.Attempts})
	if err != nil {
		return err
	}
	if err := l.event(ctx, tx, Entry{Run: hold.Run, Kind: KindDispatch, Code: "RELEASED", Message: fmt.Sprintf("%s: %s", d.Kind, later.Message), Detail: detail}); err != nil {
		return err
	}
	return notify(ctx, tx, hold.Run)
}

func noSuch(found bool, what string, id int64) error {
	if found {
		return nil
	}
	return fmt.Errorf("%s %d: %w", what, id, ErrNoRun)
}
