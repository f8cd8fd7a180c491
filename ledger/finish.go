package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// FinishReport is what an attempt says at its end.
type FinishReport struct {
	Chunks  int
	Rows    int64
	Metrics []Metric // of the rows that were read
}

// Outcome is what a report led to.
type Outcome struct {
	Partition PartitionState
	Run       State
}

// FinishPartition takes the finish report of an attempt. It guards: the token holds the partition; chunks 0..n-1 are
// there and add up to the rows; the rows equal the expected count and the metrics the source's. Anything else fails the
// partition and the run at once, committed, and is returned as *MismatchError. The report that completes the last
// partition moves the run to EXTRACTED_VALIDATED, with its dispatch, in the same transaction. The session is given
// back. A repeat is answered as recorded.
func (l *Ledger) FinishPartition(ctx context.Context, held Held, report FinishReport) (Outcome, error) {
	var out Outcome
	var mismatch *MismatchError
	err := l.decide(ctx, func(tx pgx.Tx) (err error) {
		out, mismatch, err = l.finish(ctx, tx, held, report)
		return err
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("finish partition %d: %w", held.Partition, err)
	}
	if mismatch != nil {
		return out, mismatch
	}
	return out, nil
}

func (l *Ledger) finish(ctx context.Context, tx pgx.Tx, held Held, report FinishReport) (Outcome, *MismatchError, error) {
	run, err := lock(ctx, tx, held.Run)
	if err != nil {
		return Outcome{}, nil, err
	}
	p, err := lockPartition(ctx, tx, held)
	if err != nil {
		return Outcome{}, nil, err
	}
	if p.Finished && p.Token != nil && *p.Token == held.Token {
		err := sameFinish(ctx, tx, held, p, report)
		return Outcome{Partition: p.State, Run: run.State}, nil, err
	}
	if run.State != Extracting || !p.holds(held.Token) {
		return l.finishRefused(ctx, tx, run, held, p)
	}
	if err := record(ctx, tx, held.Run, StageStream, held.Token, held.Partition, report.Metrics); err != nil {
		return Outcome{}, nil, err
	}
	diffs, err := finishDiffs(ctx, tx, held, p, report)
	if err != nil {
		return Outcome{}, nil, err
	}
	if len(diffs) > 0 {
		return l.finishBroken(ctx, tx, run, held, diffs)
	}
	return l.finishGood(ctx, tx, run, held, p, report)
}

// finishRefused answers a finish of an attempt that is over: as recorded, if this very report has failed the run.
func (l *Ledger) finishRefused(ctx context.Context, tx pgx.Tx, run locked, held Held, p partitionRow) (Outcome, *MismatchError, error) {
	h, done, err := repeated(ctx, tx, held.Run, held.Token, EventExtractFailed)
	if err != nil || !done || h.Class != classMismatch {
		return Outcome{}, nil, errors.Join(err, held.mismatch(p))
	}
	mismatch, err := storedMismatch(held.Run, h)
	return Outcome{Partition: p.State, Run: run.State}, mismatch, err
}

// sameFinish checks that a repeated finish report says what the first one said.
func sameFinish(ctx context.Context, tx pgx.Tx, held Held, p partitionRow, report FinishReport) error {
	if *p.Chunks != report.Chunks || *p.RowsRead != report.Rows {
		return fmt.Errorf("recorded with %d chunks and %d rows, repeated with %d and %d: %w",
			*p.Chunks, *p.RowsRead, report.Chunks, report.Rows, ErrConflict)
	}
	return record(ctx, tx, held.Run, StageStream, held.Token, held.Partition, report.Metrics)
}

// finishDiffs compares the report with the chunks on record, the expected count and the source's metrics.
func finishDiffs(ctx context.Context, tx pgx.Tx, held Held, p partitionRow, report FinishReport) ([]Diff, error) {
	type sums struct {
		Count int
		Last  int // highest index, -1 if there is none
		Rows  int64
	}
	s, _, err := one[sums](ctx, tx, "file_sums", args{"run": held.Run, "partition": held.Partition})
	if err != nil {
		return nil, err
	}
	var diffs []Diff
	if s.Count != report.Chunks || s.Last != report.Chunks-1 {
		diffs = append(diffs, finishDiff("chunks", report.Chunks, s.Count, "chunks reported and chunks on record"))
	}
	if s.Rows != report.Rows {
		diffs = append(diffs, finishDiff(MetricRows, report.Rows, s.Rows, "rows reported and rows of the chunks on record"))
	}
	if p.Expected != nil && *p.Expected != report.Rows {
		d := finishDiff(MetricRows, *p.Expected, report.Rows, "count at the SCN and rows read")
		d.Upstream = StageSource
		diffs = append(diffs, d)
	}
	source, err := sourceMetrics(ctx, tx, held)
	if err != nil || len(source) == 0 {
		return diffs, err
	}
	return append(diffs, Compare(StageSource, StageStream, source, report.Metrics, true)...), nil
}

func finishDiff[N int | int64](metric string, want, got N, why string) Diff {
	w, g := fmt.Sprint(want), fmt.Sprint(got)
	return Diff{Metric: metric, Upstream: StageStream, Downstream: StageStream, Want: &w, Got: &g, Why: why}
}

// sourceMetrics are what the source measured of a partition at the plan.
func sourceMetrics(ctx context.Context, tx pgx.Tx, held Held) ([]Metric, error) {
	return many[Metric](ctx, tx, "validation_source", args{"run": held.Run, "partition": held.Partition})
}

// finishBroken fails the partition and with it the run.
func (l *Ledger) finishBroken(ctx context.Context, tx pgx.Tx, run locked, held Held, diffs []Diff) (Outcome, *MismatchError, error) {
	mismatch := &MismatchError{Run: held.Run, State: FailedExtract, Diffs: diffs}
	message := fmt.Sprintf("partition %d: %s", held.Partition, diffs[0])
	err := l.failPartition(ctx, tx, run, held, move{event: EventExtractFailed, token: held.Token, class: classMismatch, message: message, detail: diffDetail(diffs)})
	return Outcome{Partition: PartitionFailed, Run: FailedExtract}, mismatch, err
}

// finishGood records the finish. A partition whose count is not known yet stays RUNNING until it is; it has no lease
// to lose any more, and its session is free.
func (l *Ledger) finishGood(ctx context.Context, tx pgx.Tx, run locked, held Held, p partitionRow, report FinishReport) (Outcome, *MismatchError, error) {
	out := Outcome{Partition: PartitionSuccess, Run: run.State}
	if p.Expected == nil {
		out.Partition = PartitionRunning
	}
	err := execOne(ctx, tx, "partition_finish", args{"run": held.Run, "idx": held.Partition, "token": held.Token,
		"state": out.Partition, "chunks": report.Chunks, "rows": report.Rows})
	if err != nil {
		return out, nil, err
	}
	if err := freeSlot(ctx, tx, held.Token); err != nil {
		return out, nil, err
	}
	if err := l.partitionEvent(ctx, tx, held, "FINISHED", fmt.Sprintf("%d rows in %d chunks", report.Rows, report.Chunks)); err != nil {
		return out, nil, err
	}
	if err := notify(ctx, tx, held.Run); err != nil { // a session is free
		return out, nil, err
	}
	next, mismatch, err := l.complete(ctx, tx, run)
	out.Run = next.State
	return out, mismatch, err
}

// Complete moves a run whose partitions have all succeeded, in case the report that should have done so did not. It
// says whether it moved the run.
func (l *Ledger) Complete(ctx context.Context, id uuid.UUID) (moved bool, err error) {
	var mismatch *MismatchError
	err = l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		next, diff, err := l.complete(ctx, tx, run)
		moved, mismatch = next.State != run.State, diff
		return err
	})
	if err != nil {
		return false, fmt.Errorf("complete run: %w", err)
	}
	if mismatch != nil {
		return moved, mismatch
	}
	return moved, nil
}

// complete moves a locked run on if every partition has succeeded. The partitions are read after the lock, so of two
// last reports the second sees the first.
func (l *Ledger) complete(ctx context.Context, tx pgx.Tx, run locked) (locked, *MismatchError, error) {
	if run.State != Extracting {
		return run, nil, nil
	}
	type sums struct {
		Partitions int
		Succeeded  int
		Rows       int64
		Chunks     int
	}
	s, _, err := one[sums](ctx, tx, "partition_sums", args{"run": run.ID})
	if err != nil || s.Succeeded < s.Partitions {
		return run, nil, err
	}
	if run.ExpectedRows == nil || *run.ExpectedRows != s.Rows {
		want := int64(-1)
		if run.ExpectedRows != nil {
			want = *run.ExpectedRows
		}
		d := finishDiff(MetricRows, want, s.Rows, "count of the table at the SCN and rows of all partitions")
		d.Upstream = StageSource
		next, err := l.advance(ctx, tx, run, move{event: EventExtractFailed, class: classMismatch, message: d.String(), detail: diffDetail([]Diff{d})})
		return next, &MismatchError{Run: run.ID, State: FailedExtract, Diffs: []Diff{d}}, err
	}
	detail, err := json.Marshal(map[string]any{"partitions": s.Partitions, "rows": s.Rows, "chunks": s.Chunks})
	if err != nil {
		return run, nil, err
	}
	next, err := l.advance(ctx, tx, run, move{event: EventExtracted, detail: detail})
	return next, nil, err
}
