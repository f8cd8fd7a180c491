package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// RecoveryMode says what becomes of a partition whose worker is lost.
type RecoveryMode string

// The modes.
const (
	ModeReissue RecoveryMode = "REISSUE" // it is sent again: same SCN, new token
	ModeFail    RecoveryMode = "FAIL"    // it fails, and the run with it
)

// SweepOptions says how long silence lasts before work counts as lost. All durations are measured by the database.
type SweepOptions struct {
	Interval     time.Duration // between the ticks of one process; a gap of more than two is an outage
	Stale        time.Duration // a partition without heartbeat for so long is lost; after an outage so long is only watched
	PublishStale time.Duration // a publish whose owner's lease ran out so long ago is given up
	Mode         RecoveryMode  // ModeReissue if empty
	Limit        int           // of each kind of work in one tick; default 100
}

func (o SweepOptions) check() error {
	switch {
	case o.Interval <= 0 || o.Stale <= 0 || o.PublishStale <= 0:
		return invalid("sweep: interval, stale and publish stale must be positive")
	case o.Mode != ModeReissue && o.Mode != ModeFail:
		return invalid("sweep: mode %q: want REISSUE or FAIL", o.Mode)
	}
	return nil
}

// Words of a Deed.
const (
	DeedReissued       = "REISSUED"        // a lost partition is sent again
	DeedFailed         = "FAILED"          // a lost partition failed its run
	DeedTimedOut       = "TIMED_OUT"       // a run passed its time limit
	DeedOverdue        = "OVERDUE"         // the same where the table does not let it end: an alert
	DeedStepReleased   = "STEP_RELEASED"   // a step whose owner is lost is due again
	DeedStepDead       = "STEP_DEAD"       // the same with its attempts used up: an alert
	DeedPublishBack    = "PUBLISH_BACK"    // a publish that never armed goes back to STAGING_VALIDATED
	DeedPublishUnknown = "PUBLISH_UNKNOWN" // a publish that armed and whose owner is lost: an alert
	DeedCompleted      = "COMPLETED"       // a run whose partitions had all succeeded moved on
	DeedSlotsFreed     = "SESSIONS_FREED"  // leases of sessions had run out
)

// Deed is one thing that a sweep did.
type Deed struct {
	What      string
	Run       uuid.UUID // uuid.Nil for DeedSlotsFreed
	Handle    string
	Partition *int
	Message   string
}

// Swept says what a sweep did.
type Swept struct {
	Acted    bool   // false: another process was sweeping, or it was only watched
	Watching string // why it was only watched, in the tick that noticed; "as before" until Until
	Until    time.Time
	Deeds    []Deed
}

// sweepLock is the key of the advisory lock under which each act of a sweeper is one transaction.
const sweepLock = migrationLock + 1

// errSweeping says that another process holds the sweeper's lock.
var errSweeping = errors.New("another process is sweeping")

// Sweep is one tick: it finds what was left behind and decides what becomes of it. Every process ticks. It guards: an
// advisory transaction lock lets one act at a time; each act is a short transaction of its own, in the order of locks,
// that finds again, under its locks, what the search found before (a heartbeat, a report or another sweeper may have
// come between); and after a gap of more than two intervals, a restart of PostgreSQL or a new timeline it only watches
// for one Stale, so that an outage of the ledger does not cost every healthy worker its work.
//
// What it finds: a partition not heard of for Stale, and past its lease, unless its finish report is in (it then waits
// for its count): its chunks void, its session free, again or for good; a run past its time limit: TIMED_OUT where the
// table allows, else an alert, once a state; a step whose lease ran out: due again, or DEAD with an alert; a publish
// whose owner is gone for PublishStale: back to STAGING_VALIDATED if it never armed (its token can arm no more), else
// PUBLISH_UNKNOWN with an alert; a run whose partitions have all succeeded: on; sessions whose leases ran out: free.
// What a timeline that was not compared holds back is left for a later tick. A binary that a migration has shut out
// decides nothing (ErrOldBinary). One act that fails does not keep the
// others from being done; the errors are joined.
func (l *Ledger) Sweep(ctx context.Context, o SweepOptions) (Swept, error) {
	o.Mode, o.Limit = cmp.Or(o.Mode, ModeReissue), cmp.Or(o.Limit, 100)
	if err := o.check(); err != nil {
		return Swept{}, err
	}
	s := &sweep{Ledger: l, opts: o}
	err := s.tick(ctx)
	if err == nil && s.done.Acted {
		err = s.act(ctx)
	}
	if errors.Is(err, errSweeping) {
		err = nil
	}
	if err != nil {
		return s.done, fmt.Errorf("sweep: %w", err)
	}
	return s.done, nil
}

// sweep is one tick under way.
type sweep struct {
	*Ledger
	opts SweepOptions
	done Swept
}

// decide runs f in one transaction, under the sweeper's lock.
func (s *sweep) decide(ctx context.Context, f func(pgx.Tx) error) error {
	return s.Ledger.decide(ctx, func(tx pgx.Tx) error {
		type lock struct{ Got bool }
		held, _, err := one[lock](ctx, tx, "sweep_lock", args{"key": int64(sweepLock)})
		if err != nil {
			return err
		}
		if !held.Got {
			return errSweeping
		}
		return f(tx)
	})
}

// tick records that somebody sweeps, and finds out whether to watch or to act.
func (s *sweep) tick(ctx context.Context) error {
	type memory struct {
		Why        string
		WatchUntil *time.Time
		Watching   bool
	}
	var m memory
	err := s.decide(ctx, func(tx pgx.Tx) (err error) {
		var found bool
		m, found, err = one[memory](ctx, tx, "sweep_tick", args{"by": s.cfg.By, "interval": s.opts.Interval, "stale": s.opts.Stale, "binary": Version})
		if err == nil && !found {
			err = ErrOldBinary
		}
		return err
	})
	if err != nil {
		return err
	}
	s.done.Acted = !m.Watching
	if m.Watching {
		s.done.Watching, s.done.Until = cmp.Or(m.Why, "as before"), *m.WatchUntil
	}
	return nil
}

// act does what is to be done. It stops when another process sweeps.
func (s *sweep) act(ctx context.Context) error {
	var errs []error
	for _, f := range []func(context.Context) error{s.partitions, s.runs, s.slots} {
		if err := f(ctx); errors.Is(err, errSweeping) {
			return errors.Join(errs...)
		} else if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// each calls f for every row, and stops only when another process sweeps. What the gate of timelines holds back is
// not an error: the next tick finds it again.
func each[T any](rows []T, f func(T) error) error {
	var errs []error
	for _, row := range rows {
		err := f(row)
		if errors.Is(err, errSweeping) {
			return err
		}
		if err != nil && !errors.Is(err, ErrTimeline) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// slots frees the sessions whose leases ran out. Whoever lost a session so has stopped: its partition went with it.
func (s *sweep) slots(ctx context.Context) error {
	var n int64
	err := s.decide(ctx, func(tx pgx.Tx) (err error) {
		n, err = exec(ctx, tx, "slot_expire", args{"stale": s.opts.Stale})
		return err
	})
	if err == nil && n > 0 {
		s.done.Deeds = append(s.done.Deeds, Deed{What: DeedSlotsFreed, Message: fmt.Sprintf("%d sessions", n)})
	}
	return err
}
