package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// ReissueRequest asks for lost partitions to be read again.
type ReissueRequest struct {
	Run        uuid.UUID
	Partitions []int         // empty: all that are lost or wait for their next attempt
	Stale      time.Duration // how long a worker must have been silent; its lease must have run out in any case
	By         string        // the ledger's By if empty
	Reason     string
}

// Reissue sends partitions again by a person's word, at the same SCN; whoever claims one makes a new token, and late
// reports of the old one get CLAIM_MISMATCH. A partition in RETRY is due now; a running one whose worker was not heard
// of for Stale goes to RETRY, its chunks void, its session free, and the lost attempt does not count. The indexes are
// returned. It guards that the run is EXTRACTING (*StaleError: a run that is over cannot be repaired, because a new SCN
// never repairs some partitions of a run), and that each named partition is lost: one that waits to be claimed, has
// succeeded or finished, or is held by a worker that lives is refused (*ReissueError), and then none is reissued.
func (l *Ledger) Reissue(ctx context.Context, req ReissueRequest) ([]int, error) {
	if req.Stale <= 0 {
		return nil, invalid("reissue: stale must be positive")
	}
	var reissued []int
	err := l.decide(ctx, func(tx pgx.Tx) (err error) {
		reissued, err = l.reissueAll(ctx, tx, req)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reissue partitions: %w", err)
	}
	return reissued, nil
}

// reissueRow is what reissuing reads of a partition.
type reissueRow struct {
	Idx      int
	State    PartitionState
	Worker   string
	Finished bool
}

func (l *Ledger) reissueAll(ctx context.Context, tx pgx.Tx, req ReissueRequest) ([]int, error) {
	run, err := lock(ctx, tx, req.Run)
	if err != nil {
		return nil, err
	}
	if run.State != Extracting {
		return nil, run.stale("partitions are reissued only while it extracts; a run that is over needs a new run")
	}
	rows, err := many[reissueRow](ctx, tx, "partition_get", args{"run": run.ID, "idx": req.Partitions})
	if err != nil {
		return nil, err
	}
	for _, want := range req.Partitions {
		if !slices.ContainsFunc(rows, func(p reissueRow) bool { return p.Idx == want }) {
			return nil, fmt.Errorf("partition %d of run %s: %w", want, run.ID, ErrNoRun)
		}
	}
	var reissued []int
	for _, p := range rows {
		refused, err := l.reissueOne(ctx, tx, run, p, req)
		switch {
		case err != nil:
			return nil, err
		case refused == "":
			reissued = append(reissued, p.Idx)
		case len(req.Partitions) > 0:
			return nil, &ReissueError{Run: run.ID, Partition: p.Idx, State: p.State, Why: refused}
		}
	}
	if len(reissued) == 0 {
		return nil, nil
	}
	return reissued, notify(ctx, tx, run.ID)
}

// reissueOne sends one partition again, or says why not.
func (l *Ledger) reissueOne(ctx context.Context, tx pgx.Tx, run locked, p reissueRow, req ReissueRequest) (refused string, err error) {
	switch {
	case p.State == PartitionRetry:
		if err := execOne(ctx, tx, "partition_hurry", args{"run": run.ID, "idx": p.Idx}); err != nil {
			return "", err
		}
		return "", l.event(ctx, tx, Entry{Run: run.ID, Partition: &p.Idx, Kind: KindPartition, Code: codeReissued, Message: req.Reason, By: req.By})
	case p.State != PartitionRunning:
		return "it is " + string(p.State), nil
	case p.Finished:
		return "its finish report is in; it waits for its count", nil
	}
	lost, found, err := lostPartition(ctx, tx, run, p.Idx, req.Stale)
	if err != nil || !found {
		return p.Worker + " holds it and was heard of lately", err
	}
	held := Held{Run: run.ID, Partition: p.Idx, Token: lost.Token}
	message := fmt.Sprintf("%s (%s)", req.Reason, lost.message(run))
	return "", l.retry(ctx, tx, held, codeReissued, Lost{Class: classLeaseLost, Message: message, by: req.By})
}
