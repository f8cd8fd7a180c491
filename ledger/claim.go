package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// PartitionState is where a partition is: PENDING -> RUNNING -> SUCCESS, FAILED or VOID; RUNNING -> RETRY -> RUNNING.
type PartitionState string

// The states of a partition.
const (
	PartitionPending PartitionState = "PENDING"
	PartitionRunning PartitionState = "RUNNING"
	PartitionRetry   PartitionState = "RETRY"
	PartitionSuccess PartitionState = "SUCCESS"
	PartitionFailed  PartitionState = "FAILED"
	PartitionVoid    PartitionState = "VOID"
)

// AttemptDir is the directory of one attempt at a partition, in which its chunks must lie.
func AttemptDir(root string, partition int, token uuid.UUID) string {
	return path.Join(root, strconv.Itoa(partition)+"-"+token.String())
}

// ClaimRequest asks for the next partition.
type ClaimRequest struct {
	Run     uuid.UUID // uuid.Nil: of any run
	Sources []string  // only runs that read these; empty: any
	Token   uuid.UUID // made by the worker
	Worker  string    // for people; the ledger's By if empty
	Lease   time.Duration
}

// Held names an attempt at a partition.
type Held struct {
	Run       uuid.UUID
	Partition int
	Token     uuid.UUID
}

// Claim is a partition that the worker holds, and a session on the source with it.
type Claim struct {
	Held
	Job        string
	Source     string
	Spec       json.RawMessage // of the slice
	Display    string
	Expected   int64
	Attempt    int    // from 1; hand-backs do not count
	Dir        string // where the chunks of this attempt must lie
	LeaseUntil time.Time
}

// claimed is a row of partition_by_token.
type claimed struct {
	RunID      uuid.UUID
	Idx        int
	Job        string
	Source     string
	Spec       json.RawMessage
	Display    string
	Expected   int64
	Attempts   int
	Root       string
	LeaseUntil time.Time
}

func (c claimed) claim(token uuid.UUID) Claim {
	return Claim{Held: Held{Run: c.RunID, Partition: c.Idx, Token: token}, Job: c.Job, Source: c.Source, Spec: c.Spec, Display: c.Display,
		Expected: c.Expected, Attempt: c.Attempts, Dir: AttemptDir(c.Root, c.Idx, token), LeaseUntil: c.LeaseUntil}
}

// claimCandidates bounds how many runs one call of Claim looks at.
const claimCandidates = 8

// ClaimPartition takes the next partition that is due, PENDING or RETRY to RUNNING, and a session on its source. It
// guards: the run is EXTRACTING; each partition is held once; no more sessions are held than the run's max sessions,
// over all processes. The same token again succeeds again, as long as it holds the partition. False is no error: there
// is nothing to do now, or others were faster.
func (l *Ledger) ClaimPartition(ctx context.Context, req ClaimRequest) (Claim, bool, error) {
	if req.Token == uuid.Nil || req.Lease <= 0 {
		return Claim{}, false, invalid("claim partition: token and lease are required")
	}
	if req.Worker == "" {
		req.Worker = l.cfg.By
	}
	var claim Claim
	var found bool
	err := l.decideByToken(ctx, func(tx pgx.Tx) (err error) {
		claim, found, err = l.claim(ctx, tx, req)
		return err
	})
	if err != nil {
		return Claim{}, false, fmt.Errorf("claim partition: %w", err)
	}
	return claim, found, nil
}

func (l *Ledger) claim(ctx context.Context, tx pgx.Tx, req ClaimRequest) (Claim, bool, error) {
	c, found, err := one[claimed](ctx, tx, "partition_by_token", args{"token": req.Token})
	if err != nil || found {
		return c.claim(req.Token), found, err
	}
	type candidate struct{ ID uuid.UUID }
	runs, err := many[candidate](ctx, tx, "claim_candidate",
		args{"run": nullUUID(req.Run), "sources": req.Sources, "limit": claimCandidates, "binary": Version})
	if err != nil {
		return Claim{}, false, err
	}
	for _, r := range runs {
		taken, err := l.claimOf(ctx, tx, r.ID, req)
		if err != nil {
			return Claim{}, false, err
		}
		if taken {
			break
		}
	}
	if len(runs) == 0 {
		return Claim{}, false, nil
	}
	// Also when nothing was taken: the lock of a run may have waited for an earlier call with this token.
	c, found, err = one[claimed](ctx, tx, "partition_by_token", args{"token": req.Token})
	return c.claim(req.Token), found, err
}

// claimOf takes a partition of one run: lock the run, pick a partition, take a session, mark the partition.
func (l *Ledger) claimOf(ctx context.Context, tx pgx.Tx, id uuid.UUID, req ClaimRequest) (bool, error) {
	run, err := lock(ctx, tx, id)
	if err != nil || run.State != Extracting {
		return false, err
	}
	type pick struct{ Idx int }
	p, found, err := one[pick](ctx, tx, "partition_pick", args{"run": id, "max_attempts": run.MaxAttempts})
	if err != nil || !found {
		return false, err
	}
	free, err := takeSlot(ctx, tx, &id, run.Source, run.MaxSessions, req.Token, req.Worker, req.Lease)
	if err != nil || !free {
		return false, err
	}
	err = execOne(ctx, tx, "partition_claim", args{"run": id, "idx": p.Idx, "token": req.Token, "worker": req.Worker, "lease": req.Lease})
	if err != nil {
		return false, err
	}
	held := Held{Run: id, Partition: p.Idx, Token: req.Token}
	return true, l.partitionEvent(ctx, tx, held, "CLAIMED", "claimed by "+req.Worker)
}

// Beat is the answer to a heartbeat.
type Beat struct {
	Owned      bool  // false: stop at once, the attempt or its session is no longer yours
	State      State // of the run
	LeaseUntil time.Time
}

// Heartbeat renews the lease of a partition and of its session and tells rows so far. It guards that a lease is only
// renewed by the token that holds both. Owned=false has changed nothing.
func (l *Ledger) Heartbeat(ctx context.Context, held Held, rows int64, lease time.Duration) (Beat, error) {
	type answer struct {
		State      State
		LeaseUntil *time.Time
	}
	var a answer
	var found bool
	err := l.decide(ctx, func(tx pgx.Tx) (err error) {
		a, found, err = one[answer](ctx, tx, "partition_beat",
			args{"run": held.Run, "idx": held.Partition, "token": held.Token, "rows": rows, "lease": lease})
		return err
	})
	switch {
	case err != nil:
		return Beat{}, fmt.Errorf("heartbeat: %w", err)
	case !found:
		return Beat{}, fmt.Errorf("heartbeat: run %s: %w", held.Run, ErrNoRun)
	case a.LeaseUntil == nil:
		return Beat{State: a.State}, nil
	}
	return Beat{Owned: true, State: a.State, LeaseUntil: *a.LeaseUntil}, nil
}
