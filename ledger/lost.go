package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Lost says how an attempt ended without success.
type Lost struct {
	Class   string
	Message string
	After   time.Duration // before it is tried again
	Counted bool          // false for a hand-back at shutdown: the attempt does not count
	by      string        // who decided, if not the ledger's By
}

// RetryPartition gives a partition back: RUNNING to RETRY, its chunks void, its session free. It guards that the token
// holds the partition. A counted attempt that was the last one allowed fails the partition and the run instead, in the
// same transaction. Repeated after ErrCommitUnknown it answers ErrClaimMismatch, which then means that it was done.
func (l *Ledger) RetryPartition(ctx context.Context, held Held, lost Lost) (Outcome, error) {
	var out Outcome
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, p, err := lockHeld(ctx, tx, held)
		if err != nil {
			return err
		}
		if lost.Counted && p.Attempts >= run.MaxAttempts {
			out = Outcome{Partition: PartitionFailed, Run: FailedExtract}
			message := fmt.Sprintf("partition %d, attempt %d of %d: %s", held.Partition, p.Attempts, run.MaxAttempts, lost.Message)
			return l.failPartition(ctx, tx, run, held, move{event: EventExtractFailed, token: held.Token, class: lost.Class, message: message})
		}
		out = Outcome{Partition: PartitionRetry, Run: run.State}
		code := "RETRY"
		if !lost.Counted {
			code = "HANDED_BACK"
		}
		return l.retry(ctx, tx, held, code, lost)
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("retry partition %d: %w", held.Partition, err)
	}
	return out, nil
}

// codeReissued is the event of an attempt that was taken from a worker that was not heard of.
const codeReissued = "REISSUED"

// retry gives a held partition back: RETRY, its chunks void, its session free.
func (l *Ledger) retry(ctx context.Context, tx pgx.Tx, held Held, code string, lost Lost) error {
	err := execOne(ctx, tx, "partition_retry", args{"run": held.Run, "idx": held.Partition, "token": held.Token,
		"uncounted": !lost.Counted, "after": lost.After, "class": nullText(lost.Class), "message": nullText(lost.Message)})
	if err != nil {
		return err
	}
	if err := endAttempt(ctx, tx, held); err != nil {
		return err
	}
	if err := l.partitionEventBy(ctx, tx, held, code, lost.Message, lost.by); err != nil {
		return err
	}
	return notify(ctx, tx, held.Run)
}

// FailPartition fails a partition for good and with it the run, by EventExtractFailed or EventSnapshotGone, in one
// transaction. It guards that the token holds the partition. A repeat is answered as recorded.
func (l *Ledger) FailPartition(ctx context.Context, held Held, f Failure) (Run, error) {
	if f.Event != EventExtractFailed && f.Event != EventSnapshotGone {
		return Run{}, fmt.Errorf("fail partition %d: %w", held.Partition, &TransitionError{From: Extracting, Event: f.Event})
	}
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, _, err := lockHeld(ctx, tx, held)
		if errors.Is(err, ErrClaimMismatch) {
			if _, done, err := repeated(ctx, tx, held.Run, held.Token, f.Event); err != nil || done {
				return err
			}
		}
		if err != nil {
			return err
		}
		return l.failPartition(ctx, tx, run, held, move{event: f.Event, token: held.Token, class: f.Class, message: f.Message, detail: f.Detail})
	})
	if err != nil {
		return Run{}, fmt.Errorf("fail partition %d: %w", held.Partition, err)
	}
	return l.Run(ctx, held.Run)
}

// lockHeld locks run and partition and checks that the token holds the partition.
func lockHeld(ctx context.Context, tx pgx.Tx, held Held) (locked, partitionRow, error) {
	run, err := lock(ctx, tx, held.Run)
	if err != nil {
		return run, partitionRow{}, err
	}
	p, err := lockPartition(ctx, tx, held)
	if err != nil {
		return run, p, err
	}
	if run.State != Extracting || !p.holds(held.Token) {
		return run, p, held.mismatch(p)
	}
	return run, p, nil
}

// failPartition fails a held partition, voids its chunks, frees its session and moves the run.
func (l *Ledger) failPartition(ctx context.Context, tx pgx.Tx, run locked, held Held, m move) error {
	err := execOne(ctx, tx, "partition_fail", args{"run": held.Run, "idx": held.Partition, "token": held.Token,
		"class": nullText(m.class), "message": nullText(m.message)})
	if err != nil {
		return err
	}
	if err := endAttempt(ctx, tx, held); err != nil {
		return err
	}
	if err := l.partitionEvent(ctx, tx, held, "FAILED", m.message); err != nil {
		return err
	}
	_, err = l.advance(ctx, tx, run, m)
	return err
}

// endAttempt voids the chunks of an attempt that lost and frees its session. Every way out of RUNNING other than
// SUCCESS comes through here or through voidOpen.
func endAttempt(ctx context.Context, tx pgx.Tx, held Held) error {
	if _, err := exec(ctx, tx, "file_void", args{"run": held.Run, "partition": held.Partition}); err != nil {
		return err
	}
	return freeSlot(ctx, tx, held.Token)
}
