package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Reached is a boundary that a run has reached.
type Reached struct {
	Boundary Boundary
	At       time.Time
	By       string
	Evidence json.RawMessage
}

// Ladder reads the boundaries that a run has reached, in order.
func (l *Ledger) Ladder(ctx context.Context, run uuid.UUID) ([]Reached, error) {
	type row struct {
		FromState State
		Event     Event
		At        time.Time
		By        string
		Detail    json.RawMessage
	}
	rows, err := many[row](ctx, l.pool, "history_list", args{"run": run})
	if err != nil {
		return nil, fmt.Errorf("read boundaries: %w", l.connectError(err))
	}
	var ladder []Reached
	for _, r := range rows {
		for _, b := range reaches(r.FromState, r.Event) {
			if !slices.ContainsFunc(ladder, func(x Reached) bool { return x.Boundary == b }) {
				ladder = append(ladder, Reached{Boundary: b, At: r.At, By: r.By, Evidence: r.Detail})
			}
		}
	}
	return ladder, nil
}

func reaches(from State, event Event) []Boundary {
	for _, t := range Transitions {
		if t.From == from && t.Event == event {
			return t.Reaches
		}
	}
	return nil
}

// EndedError says that a run ended without reaching the boundary that was waited for.
type EndedError struct {
	Run      Run
	Boundary Boundary
}

func (e *EndedError) Error() string {
	return fmt.Sprintf("run %s ended %s and will never be %s: %s", e.Run.Handle(), e.Run.State, e.Boundary, e.Run.Message)
}

// Wait returns the run once it has reached the boundary; what that means can be read by then. A run that ends without
// it is *EndedError. When ctx ends, the run as it was read last is returned with ctx's error; the wait changed nothing.
func (l *Ledger) Wait(ctx context.Context, id uuid.UUID, until Boundary) (Run, error) {
	if !slices.Contains(Boundaries, until) {
		return Run{}, invalid("wait for %q: want one of %v", until, Boundaries)
	}
	w := l.Watch(ctx)
	defer w.Close()
	var last Run
	for {
		run, done, err := l.reached(ctx, id, until)
		if err == nil {
			last = run
		}
		switch {
		case done, err != nil && ctx.Err() == nil:
			return run, err
		case ctx.Err() != nil:
			return last, fmt.Errorf("wait for %s: %w", until, context.Cause(ctx))
		}
		w.Next(ctx)
	}
}

// reached reads the run and then its ladder: a ladder read later can only be longer.
func (l *Ledger) reached(ctx context.Context, id uuid.UUID, until Boundary) (Run, bool, error) {
	run, err := l.Run(ctx, id)
	if err != nil {
		return run, false, err
	}
	ladder, err := l.Ladder(ctx, id)
	if err != nil {
		return run, false, err
	}
	if slices.ContainsFunc(ladder, func(r Reached) bool { return r.Boundary == until }) {
		run, err := l.Run(ctx, id)
		return run, true, err
	}
	if !run.State.Active() {
		return run, true, &EndedError{Run: run, Boundary: until}
	}
	return run, false, nil
}

// Watcher wakes its owner when something in the ledger may have changed: at once by a notification, and in any case
// after the poll interval, so that lost notifications and poolers that pass none only cost time.
type Watcher struct {
	wake   chan struct{}
	poll   time.Duration
	cancel context.CancelFunc
	done   chan struct{}
}

// Watch starts a watcher on a connection of its own. It lives until Close, or until ctx ends.
func (l *Ledger) Watch(ctx context.Context) *Watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &Watcher{wake: make(chan struct{}, 1), poll: l.cfg.Poll, cancel: cancel, done: make(chan struct{})}
	cfg := l.pool.Config().ConnConfig
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			if err := w.listen(ctx, cfg); err != nil && ctx.Err() == nil {
				l.cfg.Log.Debug("notifications interrupted", "err", classify(err, l.server))
			}
			w.pause(ctx)
		}
	}()
	return w
}

// Next returns when there may be something new, or when ctx or the watcher ends.
func (w *Watcher) Next(ctx context.Context) {
	select {
	case <-w.wake:
	case <-time.After(w.poll):
	case <-w.done:
	case <-ctx.Done():
	}
}

// C receives when there may be something new. Owners that select on it need a timer of their own.
func (w *Watcher) C() <-chan struct{} { return w.wake }

// Close ends the watcher and waits until its connection is closed.
func (w *Watcher) Close() {
	w.cancel()
	<-w.done
}

func (w *Watcher) listen(ctx context.Context, cfg *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing) // nothing was written on it
	}()
	if _, err := conn.Exec(ctx, "LISTEN loadctl"); err != nil {
		return err
	}
	for {
		w.signal() // also once after LISTEN: what happened before it was not told
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}

// signal leaves one wake-up; more than one at a time say nothing more.
func (w *Watcher) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *Watcher) pause(ctx context.Context) {
	select {
	case <-time.After(w.poll):
	case <-ctx.Done():
	}
}
