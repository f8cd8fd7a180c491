package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/loadctl/loadctl/ledger"
)

// Engine does whatever work the ledger has: partitions by a number of workers, steps by a dispatcher. Any number of
// engines may run on one ledger; each is handed what no other holds.
type Engine struct {
	Env  *Env
	Only uuid.UUID // the one run to drive, to its end; the zero UUID: all runs, until stopped
}

// stepsAtOnce bounds how many steps one process does at the same time. Steps mostly wait for the warehouse.
const stepsAtOnce = 4

// Run works until ctx ends (nothing new is begun; what is in hand may go on for Timing.Grace and is then handed back)
// or hard ends (what is in hand is broken off and handed back at once). With Only it also ends when that run is over or
// waits for a person; the error says when nothing that the engine can do would move it.
func (g *Engine) Run(ctx, hard context.Context) error {
	stop, stopped := context.WithCancelCause(ctx)
	defer stopped(nil)
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	release := g.bound(stop, hard, cancel)
	defer release()

	e := &engine{Env: g.Env, only: g.Only, sources: g.sources(), stop: stop, work: work, wake: newBell()}
	group, _ := errgroup.WithContext(work)
	for range max(g.Env.Limits.Workers, 1) {
		group.Go(e.worker)
	}
	for range stepsAtOnce {
		group.Go(e.dispatcher)
	}
	group.Go(e.listen)
	if g.Env.Recovery.Interval > 0 {
		group.Go(e.sweeper)
	}
	if g.Only != uuid.Nil {
		group.Go(func() error {
			err := e.watch()
			stopped(errOver) // the others have nothing left to do
			return err
		})
	}
	return group.Wait()
}

// errOver: the one run that was driven needs this process no longer.
var errOver = errors.New("the run is over")

// sources names what this process can read from.
func (g *Engine) sources() []string {
	var names []string
	for n := range g.Env.Sources {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// bound ends the work when it must end: at once with hard, a grace period after stop.
func (g *Engine) bound(stop, hard context.Context, cancel context.CancelCauseFunc) (release func()) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-done:
			return
		case <-hard.Done():
			cancel(ErrStop)
			return
		case <-stop.Done():
		}
		if errors.Is(context.Cause(stop), errOver) {
			return
		}
		select {
		case <-done:
		case <-hard.Done():
			cancel(ErrStop)
		case <-time.After(g.Env.Timing.Grace):
			cancel(ErrStop)
		}
	})
	return func() { close(done); wg.Wait() }
}

// engine is one Run of an Engine.
type engine struct {
	*Env
	only    uuid.UUID
	sources []string
	stop    context.Context // ends: begin nothing new
	work    context.Context // ends: break off what is in hand
	wake    *bell
}

// listen rings the bell whenever something in the ledger may have changed.
func (e *engine) listen() error {
	w := e.Ledger.Watch(e.stop)
	defer w.Close()
	for e.stop.Err() == nil {
		w.Next(e.stop)
		e.wake.ring()
	}
	e.wake.ring()
	return nil
}

// worker claims partitions and extracts them, one after the other.
func (e *engine) worker() error {
	for e.stop.Err() == nil {
		heard := e.wake.listen()
		claim, ok, err := e.claim()
		switch {
		case err != nil:
			e.complain("claim a partition", err)
			e.pause(heard)
		case !ok:
			e.pause(heard)
		default:
			e.extract(e.work, claim, e.wake)
		}
	}
	return nil
}

// claim asks for a partition. A lost answer is repeated with the same token, which then is answered as recorded.
func (e *engine) claim() (claim ledger.Claim, ok bool, err error) {
	req := ledger.ClaimRequest{Run: e.only, Sources: e.sources, Token: ledger.NewToken(), Worker: e.Host, Lease: e.Timing.Stale}
	for range 3 {
		claim, ok, err = e.Ledger.ClaimPartition(e.stop, req)
		if !errors.Is(err, ledger.ErrCommitUnknown) {
			break
		}
	}
	return claim, ok, err
}

// dispatcher is handed due steps and does them, one after the other.
func (e *engine) dispatcher() error {
	for e.stop.Err() == nil {
		heard := e.wake.listen()
		did, err := e.next()
		if err != nil {
			e.complain("do a step", err)
		}
		if !did {
			e.pause(heard)
		}
	}
	return nil
}

// next does one due step, if there is one that nobody else is faster to own.
func (e *engine) next() (bool, error) {
	due, err := e.Ledger.DueSteps(e.stop, ledger.DueRequest{Run: e.only, Sources: e.sources, Limit: 2 * stepsAtOnce})
	if err != nil {
		return false, err
	}
	for _, d := range due {
		if e.stop.Err() != nil {
			return false, nil
		}
		did, err := e.step(e.work, d, e.wake)
		if did || err != nil {
			return did, err
		}
	}
	return false, nil
}

// watch returns when the one run that is driven needs this process no longer.
func (e *engine) watch() error {
	for e.stop.Err() == nil {
		heard := e.wake.listen()
		run, err := e.Ledger.Run(e.stop, e.only)
		switch {
		case err != nil && !errors.Is(err, ledger.ErrUnreachable):
			return err
		case err != nil:
			e.complain("read the run", err)
		case !run.State.Active() || run.State == ledger.PublishUnknown:
			return nil
		default:
			if err := e.stuck(run); err != nil {
				return err
			}
		}
		e.pause(heard)
	}
	return nil
}

// publishTries is how often a publish is prepared in vain, for a reason that will not pass, before a process that drives
// one run gives up. The run stays where it is.
const publishTries = 3

// stuck says why nothing that this process can do will move a run, or nil.
func (e *engine) stuck(run ledger.Run) error {
	if run.State == ledger.StagingValidated && run.PublishAttempt >= publishTries {
		if c, ok := ClassByCode(run.Class); ok && c.Kind != Transient && c.Kind != Stale {
			return &RunError{Run: run, Class: c}
		}
	}
	if run.State == ledger.Extracting || run.Step != "" {
		return nil
	}
	return e.dead(run)
}

// dead is a RunError if the step that the run waits for was given up, after attempts that all failed.
func (e *engine) dead(run ledger.Run) error {
	entries, err := e.Ledger.Events(e.stop, run.ID)
	if err != nil {
		e.complain("read the run's events", err)
		return nil
	}
	for _, entry := range slices.Backward(entries) {
		switch {
		case entry.Kind == ledger.KindState || entry.Code == ledger.CodeResent:
			return nil
		case entry.Code == ledger.CodeDispatchDead:
			c, ok := ClassByCode(entry.Class)
			if !ok {
				c = internal
			}
			run.Message = entry.Message
			return &RunError{Run: run, Class: c}
		}
	}
	return nil
}

// pause waits until the bell has rung since heard was taken, or the poll interval has passed.
func (e *engine) pause(heard <-chan struct{}) {
	select {
	case <-heard:
	case <-e.stop.Done():
	case <-time.After(e.Timing.Poll):
	}
}

// complain logs an error that the loop survives, unless it is only the end of the work.
func (e *engine) complain(doing string, err error) {
	if e.stop.Err() == nil {
		e.Log.Warn("cannot "+doing, "err", err, "class", Classify(err).Code)
	}
}

// RunError is a run that stays where it is although it is not over.
type RunError struct {
	Run   ledger.Run
	Class Class
}

func (r *RunError) Error() string {
	return fmt.Sprintf("%s (%s) stays %s: %s", r.Run.Handle(), r.Run.Short(), r.Run.State, r.Run.Message)
}

// Unwrap makes Classify find the class that was recorded.
func (r *RunError) Unwrap() error {
	if len(r.Class.Is) == 0 {
		return ErrRunFailed
	}
	return r.Class.Is[0]
}
