package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// sweptRun is a run that was left behind, and how.
type sweptRun struct {
	ID     uuid.UUID
	Job    string
	Key    string
	Number int
	State  State

	Overdue     bool // past its time limit, and that was not said yet
	StepExpired bool
	PublishGone bool
	Complete    bool // every partition has succeeded
}

func (r sweptRun) deed(what, message string) Deed {
	return Deed{What: what, Run: r.ID, Handle: Active{Job: r.Job, Key: r.Key, Number: r.Number}.Handle(), Message: message}
}

// find lists the runs that were left behind: all of them, or one whose row is locked.
func (s *sweep) find(ctx context.Context, db querier, run uuid.UUID) ([]sweptRun, error) {
	return many[sweptRun](ctx, db, "sweep_runs", args{"run": nullUUID(run), "publish_stale": s.opts.PublishStale,
		"overdue": CodeOverdue, "limit": s.opts.Limit})
}

// runs decides about runs that were left behind.
func (s *sweep) runs(ctx context.Context) error {
	rows, err := s.find(ctx, s.pool, uuid.Nil)
	if err != nil {
		return s.connectError(err)
	}
	return each(rows, func(found sweptRun) error {
		return s.do(ctx, func(tx pgx.Tx) (*Deed, error) { return s.run(ctx, tx, found.ID) })
	})
}

// do is one act: one transaction, and what it did if it did anything.
func (s *sweep) do(ctx context.Context, f func(pgx.Tx) (*Deed, error)) error {
	var deed *Deed
	err := s.decide(ctx, func(tx pgx.Tx) (err error) {
		deed, err = f(tx)
		return err
	})
	if err == nil && deed != nil {
		s.done.Deeds = append(s.done.Deeds, *deed)
	}
	return err
}

// run decides about one run, by what is found once its row is locked. What ends a run comes first.
func (s *sweep) run(ctx context.Context, tx pgx.Tx, id uuid.UUID) (*Deed, error) {
	run, err := lock(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	again, err := s.find(ctx, tx, id)
	if err != nil || len(again) == 0 {
		return nil, err
	}
	found := again[0]
	var deed Deed
	switch {
	case found.Complete:
		deed, err = s.complete(ctx, tx, run, found)
	case found.Overdue:
		deed, err = s.timeOut(ctx, tx, run, found)
	case found.PublishGone:
		deed, err = s.givePublishUp(ctx, tx, run, found)
	default:
		deed, err = s.freeStep(ctx, tx, run, found)
	}
	return &deed, err
}

// complete moves a run on whose last report should have done it.
func (s *sweep) complete(ctx context.Context, tx pgx.Tx, run locked, found sweptRun) (Deed, error) {
	next, _, err := s.Ledger.complete(ctx, tx, run)
	return found.deed(DeedCompleted, "every partition had succeeded: "+string(next.State)), err
}

// timeOut ends a run past its limit, or, where the table does not let it end, says so once.
func (s *sweep) timeOut(ctx context.Context, tx pgx.Tx, run locked, found sweptRun) (Deed, error) {
	if _, err := Next(run.State, EventTimeout); err == nil {
		message := fmt.Sprintf("past its time limit in %s", run.State)
		_, err := s.advance(ctx, tx, run, move{event: EventTimeout, class: classTimedOut, message: message})
		return found.deed(DeedTimedOut, message), err
	}
	detail, err := json.Marshal(map[string]any{"state": run.State, "class": classTimedOut})
	if err != nil {
		return Deed{}, err
	}
	message := fmt.Sprintf("past its time limit; a run that is %s does not time out", run.State)
	err = s.event(ctx, tx, Entry{Run: run.ID, Kind: KindAlert, Code: CodeOverdue, Message: message, Detail: detail})
	return found.deed(DeedOverdue, message), err
}

// freeStep puts the dispatch of a lost owner back, or gives it up when its attempts are used up.
func (s *sweep) freeStep(ctx context.Context, tx pgx.Tx, run locked, found sweptRun) (Deed, error) {
	d, _, err := one[dispatchRow](ctx, tx, "dispatch_lock", args{"id": *run.StepDispatch})
	if err != nil {
		return Deed{}, err
	}
	deed := found.deed(DeedStepReleased, fmt.Sprintf("%s: %s", d.Kind, leaseLost().Message))
	if d.Attempts >= s.cfg.DispatchAttempts {
		deed.What = DeedStepDead
		return deed, s.bury(ctx, tx, d, leaseLost())
	}
	return deed, s.release(ctx, tx, Hold{Run: run.ID, Token: *run.StepToken}, d, leaseLost())
}

// givePublishUp ends an attempt to publish whose owner is gone.
func (s *sweep) givePublishUp(ctx context.Context, tx pgx.Tx, run locked, found sweptRun) (Deed, error) {
	hold := Hold{Run: run.ID, Token: *run.PublishToken}
	_, a, err := lockPublish(ctx, tx, hold)
	if err != nil {
		return Deed{}, err
	}
	deed := found.deed(DeedPublishBack, "its publisher is gone; it never armed, so nothing was sent")
	r := Result{Event: EventNotArmed, Class: classLeaseLost}
	if a.Armed {
		deed = found.deed(DeedPublishUnknown, "its publisher is gone after it armed; whether it sent the statement is not known")
		r = Result{Event: EventPublishUnknown, Class: CodePublishUnknown}
	}
	r.Message = deed.Message
	return deed, s.endPublish(ctx, tx, run, a, hold, r)
}

// sweptPartition is a partition whose worker was not heard of.
type sweptPartition struct {
	ID     uuid.UUID
	Job    string
	Key    string
	Number int
	Idx    int
}

// partitions decides about partitions whose workers are lost.
func (s *sweep) partitions(ctx context.Context) error {
	rows, err := s.findPartitions(ctx)
	if err != nil {
		return err
	}
	return each(rows, func(p sweptPartition) error {
		return s.do(ctx, func(tx pgx.Tx) (*Deed, error) { return s.partition(ctx, tx, p) })
	})
}

func (s *sweep) findPartitions(ctx context.Context) ([]sweptPartition, error) {
	rows, err := many[sweptPartition](ctx, s.pool, "sweep_partitions", args{"stale": s.opts.Stale, "limit": s.opts.Limit})
	return rows, s.connectError(err)
}

// partition reissues or fails one partition, if it still is lost once run and partition are locked.
func (s *sweep) partition(ctx context.Context, tx pgx.Tx, p sweptPartition) (*Deed, error) {
	run, err := lock(ctx, tx, p.ID)
	if err != nil || run.State != Extracting {
		return nil, err
	}
	lost, found, err := lostPartition(ctx, tx, run, p.Idx, s.opts.Stale)
	if err != nil || !found {
		return nil, err
	}
	deed := sweptRun{ID: p.ID, Job: p.Job, Key: p.Key, Number: p.Number}.deed(DeedReissued, lost.message(run))
	deed.Partition = &p.Idx
	held := Held{Run: run.ID, Partition: p.Idx, Token: lost.Token}
	if s.opts.Mode == ModeFail || lost.Attempts >= run.MaxAttempts {
		deed.What = DeedFailed
		return &deed, s.failPartition(ctx, tx, run, held, move{event: EventExtractFailed, class: classLeaseLost, message: deed.Message})
	}
	return &deed, s.retry(ctx, tx, held, codeReissued, Lost{Class: classLeaseLost, Message: deed.Message, Counted: true})
}

// lostAttempt is a running attempt that was not heard of and is past its lease.
type lostAttempt struct {
	index       int
	Token       uuid.UUID
	Attempts    int
	Worker      string
	HeartbeatAt time.Time
}

// lostPartition locks a partition if it runs, has not finished, and was not heard of for stale.
func lostPartition(ctx context.Context, tx pgx.Tx, run locked, index int, stale time.Duration) (lostAttempt, bool, error) {
	lost, found, err := one[lostAttempt](ctx, tx, "partition_stale", args{"run": run.ID, "idx": index, "stale": stale})
	lost.index = index
	return lost, found, err
}

func (a lostAttempt) message(run locked) string {
	return fmt.Sprintf("partition %d, attempt %d of %d: %s was last heard of at %s",
		a.index, a.Attempts, run.MaxAttempts, a.Worker, a.HeartbeatAt.UTC().Format(time.RFC3339))
}
