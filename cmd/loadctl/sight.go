package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

// sight is a run as it was read at one moment.
type sight struct {
	run        ledger.Run
	ladder     []ledger.Reached
	partitions []ledger.Partition
	at         time.Time // of this host
}

// reached finds a boundary on the ladder.
func (s sight) reached(b ledger.Boundary) (ledger.Reached, bool) {
	i := slices.IndexFunc(s.ladder, func(r ledger.Reached) bool { return r.Boundary == b })
	if i < 0 {
		return ledger.Reached{}, false
	}
	return s.ladder[i], true
}

// over says that nothing more happens to the run by itself.
func (s sight) over() bool { return !s.run.State.Active() || s.run.State == ledger.PublishUnknown }

// look reads a run. The run is read before its ladder: what is seen of a run that is over is all there is.
func (a *app) look(ctx context.Context, l *ledger.Ledger, id uuid.UUID) (s sight, err error) {
	if s.run, err = l.Run(ctx, id); err != nil {
		return s, err
	}
	if s.partitions, err = l.Partitions(ctx, id); err != nil {
		return s, err
	}
	s.ladder, err = l.Ladder(ctx, id)
	s.at = a.now()
	return s, err
}

// display shows a run while it goes on.
type display interface {
	update(s sight) // it may have changed
	tell(s sight)   // somebody wants a line now
	close()         // nothing more is coming
}

// follow watches a run through the ledger, whoever works on it.
type follow struct {
	a      *app
	ledger *ledger.Ledger
	run    uuid.UUID
	until  ledger.Boundary
	show   display
	gap    time.Duration // shortest time between two looks
	every  time.Duration // longest time between two looks
}

// loop returns when the boundary is reached or the run is over, with the run as it was seen last; when over is closed,
// after one more look; when ctx ends, with its cause. A ledger that is away is waited for.
func (f *follow) loop(ctx context.Context, over <-chan struct{}) (last sight, err error) {
	defer f.show.close()
	w := f.ledger.Watch(ctx)
	defer w.Close()
	final, away := false, false
	for {
		s, err := f.a.look(ctx, f.ledger, f.run)
		switch {
		case ctx.Err() != nil:
			return last, context.Cause(ctx)
		case errors.Is(err, ledger.ErrUnreachable) && !final:
			if !away { // once, however long it takes
				f.a.logger().Warn("the ledger is away, and waited for", "err", err)
			}
			away = true
		case err != nil:
			return last, err
		default:
			last, away = s, false
			f.show.update(s)
			if _, done := s.reached(f.until); done || s.over() || final {
				return s, nil
			}
		}
		if final = f.pause(ctx, w.C(), over, last); ctx.Err() != nil {
			return last, context.Cause(ctx)
		}
	}
}

// pause waits until it is worth looking again. It returns true when over is closed.
func (f *follow) pause(ctx context.Context, woken, over <-chan struct{}, last sight) bool {
	soonest := time.NewTimer(f.gap)
	defer soonest.Stop()
	latest := time.NewTimer(f.every)
	defer latest.Stop()
	var wake <-chan struct{} // heard only after the gap, so that a busy ledger costs no more than that
	for {
		select {
		case <-soonest.C:
			wake = woken
		case <-wake:
			return false
		case <-latest.C:
			return false
		case <-over:
			return true
		case <-f.a.Tell:
			f.show.tell(last)
		case <-ctx.Done():
			return false
		}
	}
}

// rate measures rows a second over the last seconds.
type rate struct{ seen []sample }

type sample struct {
	at   time.Time
	rows int64
}

// rateWindow is how far back a rate looks: longer than two heartbeats of a partition, whose rows come with them.
const rateWindow = 35 * time.Second

// add takes in what was seen and returns rows a second, 0 while that is not known.
func (r *rate) add(at time.Time, rows int64) float64 {
	if n := len(r.seen); n > 0 && rows < r.seen[n-1].rows { // an attempt was lost, and its rows with it
		r.seen = nil
	}
	r.seen = append(r.seen, sample{at, rows})
	for len(r.seen) > 2 && at.Sub(r.seen[1].at) > rateWindow {
		r.seen = r.seen[1:]
	}
	first := r.seen[0]
	if took := at.Sub(first.at).Seconds(); took > 0 {
		return float64(rows-first.rows) / took
	}
	return 0
}

// remaining forecasts the end of the extraction; 0 while that is not known.
func remaining(r ledger.Run, perSecond float64) time.Duration {
	left := r.ExpectedRows - r.RowsDone
	if perSecond <= 0 || left <= 0 || r.State != ledger.Extracting {
		return 0
	}
	return time.Duration(float64(left) / perSecond * float64(time.Second))
}
