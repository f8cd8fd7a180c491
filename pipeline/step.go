package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

// Step is one kind of work on a run, called for by a dispatch and done by whoever owns it.
//
// Do reads the run, has effects, records what it measured, and says how it ended: nil once it has moved the run, an
// error otherwise. It does not retry, and does not log its own error. It may be run again, in another process, after
// having died at any line: names are made from run, attempt and chunk, files are written once, and what is there
// already with the right content is success. The exception is Publish, which is never run again under one token.
type Step struct {
	Kind ledger.Dispatch
	Fail ledger.Event // how the run ends when Do fails for good; "" when Do itself says so
	Do   func(ctx context.Context, w *work) error
}

// Steps are all steps, in the order in which a run meets them.
var Steps = []Step{
	{ledger.Plan, ledger.EventManifestBroken, func(ctx context.Context, w *work) error { return w.plan(ctx) }},
	{ledger.ValidateStage, ledger.EventStageFailed, func(ctx context.Context, w *work) error { return w.validateStage(ctx) }},
	{ledger.Publish, "", func(ctx context.Context, w *work) error { return w.publish(ctx) }},
	{ledger.ValidateTarget, ledger.EventTargetFailed, func(ctx context.Context, w *work) error { return w.validateTarget(ctx) }},
}

// findStep finds the step that a dispatch calls for.
func findStep(kind ledger.Dispatch) (Step, bool) {
	for _, s := range Steps {
		if s.Kind == kind {
			return s, true
		}
	}
	return Step{}, false
}

// work is one owned step of one run.
type work struct {
	*Env
	own  ledger.Ownership
	wake *bell
	log  *slog.Logger
}

func (w *work) hold() ledger.Hold { return w.own.Hold }

// step owns a due dispatch, does its step, and settles how that ended. It says whether there was anything to do.
func (e *Env) step(ctx context.Context, due ledger.Due, wake *bell) (bool, error) {
	own, err := e.Ledger.OwnStep(ctx, ledger.OwnRequest{Dispatch: due.ID, Token: ledger.NewToken(), Owner: e.Host, Lease: e.Timing.StepLease})
	if err != nil || !own.Owned {
		return false, err
	}
	step, ok := findStep(own.Kind)
	if !ok {
		return false, fmt.Errorf("dispatch %s: this program has no such step: use a newer one", own.Kind)
	}
	w := &work{Env: e, own: own, wake: wake, log: e.Log.With("run", own.Run.ID, "job", own.Run.Job, "step", own.Kind, "attempt", own.Attempt)}
	owned, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		w.renew(owned, cancel)
	}()
	start := time.Now()
	err = w.guard(owned, step)
	if cause := context.Cause(owned); cause != nil && err != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	cancel(nil)
	<-renewed
	if err == nil {
		w.log.Info("step done", "elapsed", time.Since(start).Round(time.Millisecond))
		return true, nil
	}
	told, done := context.WithTimeout(context.WithoutCancel(ctx), e.Timing.StepLease)
	defer done()
	return true, w.settle(told, step, err)
}

// guard turns a panic of a library into an error of this run alone.
func (w *work) guard(ctx context.Context, s Step) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("step %s: panic: %v", s.Kind, p)
		}
	}()
	return s.Do(ctx, w)
}

// settle tells the ledger how a step that did not move its run ended.
func (w *work) settle(ctx context.Context, s Step, err error) error {
	c := Classify(err)
	switch {
	case errors.Is(err, ledger.ErrMismatch) || errors.Is(err, ledger.ErrManifest):
		w.log.Error("run failed", "err", err, "class", c.Code)
		return nil // recorded already, with the run's end
	case errors.Is(err, ErrStop):
		return w.release(ctx, s, ledger.Later{Class: "STOPPED", Message: "handed back at shutdown"})
	case c.Kind == Stale || errors.Is(err, ErrLeaseLost):
		w.log.Warn("step dropped", "err", err)
		return nil
	case c.Kind == Transient || s.Fail == "":
		w.log.Warn("step will be tried again", "err", err, "class", c.Code)
		return w.release(ctx, s, ledger.Later{After: pause(w.own.Attempt), Counted: true, Class: c.Code, Message: err.Error()})
	}
	event := s.Fail
	if c.Kind == Expired && s.Kind == ledger.Plan {
		event = ledger.EventSnapshotGone
	}
	w.log.Error("run failed", "err", err, "class", c.Code)
	return w.retryLedger(ctx, func() error {
		_, ferr := w.Ledger.Fail(ctx, w.hold(), ledger.Failure{Event: event, Class: c.Code, Message: err.Error()})
		return ignoreStale(ferr)
	})
}

// release puts the step back into the outbox. A publish settles itself and never comes here with its claim open.
func (w *work) release(ctx context.Context, s Step, later ledger.Later) error {
	if s.Kind == ledger.Publish {
		return nil
	}
	return w.retryLedger(ctx, func() error { return ignoreStale(w.Ledger.ReleaseStep(ctx, w.hold(), later)) })
}

// renew extends the step's lease until ctx ends, and ends ctx when the step is no longer ours, or before the lease
// could have been given away.
func (w *work) renew(ctx context.Context, cancel context.CancelCauseFunc) {
	t := w.Timing
	last := time.Now()
	for w.wake.every(ctx, t.StepRenew) {
		call, done := context.WithTimeout(ctx, t.StepRenew)
		err := w.Ledger.RenewStep(call, w.hold(), t.StepLease)
		done()
		switch {
		case errors.Is(err, ledger.ErrStale):
			cancel(fmt.Errorf("%w: %w", ErrLeaseLost, err))
			return
		case err == nil:
			last = time.Now()
		case time.Since(last) > t.StepLease-2*t.StepRenew:
			cancel(fmt.Errorf("%w: not renewed for %s: %w", ErrLeaseLost, time.Since(last).Round(time.Second), err))
			return
		}
	}
}

// asJSON encodes a value of ours, which cannot fail.
func asJSON(v any) json.RawMessage {
	p, err := json.Marshal(v)
	if err != nil {
		panic("encode our own value: " + err.Error())
	}
	return p
}
