package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/stage"
)

// Causes of a cancelled context, told apart by context.Cause.
var (
	// ErrStop: the process was asked to stop; what is in hand is given back, uncounted.
	ErrStop = errors.New("stopping")
	// ErrLeaseLost: ownership could not be renewed or was given away; what is in hand is dropped.
	ErrLeaseLost = errors.New("lease lost")
)

// extraction is one attempt at a partition.
type extraction struct {
	env   *Env
	wake  *bell
	claim ledger.Claim
	run   *frozen
	log   *slog.Logger
	rows  atomic.Int64 // read so far: written by the attempt, read by its heartbeat
}

// extract reads one claimed partition into chunks, and reports it finished, given back, or failed.
//
// Before: the partition is RUNNING under our token and a session of the source is ours. After: it is SUCCESS, RETRY or
// FAILED, or no longer ours. In order: a chunk is created, written, closed and looked at (a crash leaves a file
// that has no row in the ledger, in a directory of this attempt alone); the chunk is reported (an answer that is lost
// is repeated, and answered as recorded); the finish is reported (likewise). The ledger, not this function, compares
// rows and metrics with what the source had at the SCN and decides.
func (e *Env) extract(ctx context.Context, claim ledger.Claim, wake *bell) {
	log := e.Log.With("run", claim.Run, "job", claim.Job, "partition", claim.Partition, "attempt", claim.Attempt)
	x := &extraction{env: e, wake: wake, claim: claim, log: log}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	beat := make(chan struct{})
	go func() {
		defer close(beat)
		x.heartbeat(ctx, cancel)
	}()
	start := time.Now()
	err := x.attempt(ctx)
	if cause := context.Cause(ctx); cause != nil {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	cancel(nil)
	<-beat
	// The outcome is told even though the work was cancelled: within the lease nobody else can tell it.
	told, done := context.WithTimeout(context.WithoutCancel(ctx), e.Timing.Stale)
	defer done()
	if err := x.settle(told, err); err != nil {
		log.Error("partition outcome not recorded", "err", err, "class", Classify(err).Code)
		return
	}
	log.Debug("partition ended", "rows", x.rows.Load(), "elapsed", time.Since(start))
}

// attempt reads the slice to its end.
func (x *extraction) attempt(ctx context.Context) (err error) {
	defer func() { // go-ora is known to panic on damaged replies; one partition must not take the process along
		if p := recover(); p != nil {
			err = fmt.Errorf("read partition %d: panic: %v", x.claim.Partition, p)
		}
	}()
	if x.run, err = x.env.thawHere(ctx, x.claim.Run); err != nil {
		return err
	}
	var slice extract.Slice
	if err := json.Unmarshal(x.claim.Spec, &slice); err != nil {
		return fmt.Errorf("read the slice of partition %d: %w", x.claim.Partition, err)
	}
	src, err := x.env.source(x.run.job, x.run.id(), x.run.Identities.Source)
	if err != nil {
		return err
	}
	reader, err := src.Read(ctx, x.run.Query, x.run.Snapshot, slice)
	if err != nil {
		return fmt.Errorf("read partition %d (%s): %w", x.claim.Partition, x.claim.Display, err)
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	x.tellWay(ctx, reader)
	return x.copy(ctx, reader)
}

// tellWay notes in the run's audit that a partition is not read in the usual way, and why.
func (x *extraction) tellWay(ctx context.Context, reader extract.Reader) {
	c, ok := reader.(extract.Chooser)
	if !ok {
		return
	}
	way, why := c.ReadBy()
	if why == "" {
		return
	}
	x.log.Info("another reader", "reader", way, "why", why)
	message := fmt.Sprintf("partition %d is read by the %s reader: %s", x.claim.Partition, way, why)
	if err := x.env.Ledger.Note(ctx, x.claim.Run, "READER", message, nil); err != nil {
		x.log.Warn("reader not noted", "err", err)
	}
}

// copy streams batches from the reader into chunks, and reports the finish.
func (x *extraction) copy(ctx context.Context, reader extract.Reader) (err error) {
	w, err := stage.NewChunkWriter(ctx, stage.Cut{
		Store: x.env.Store, Layout: x.run.layout, Format: x.env.Format, Columns: x.run.Columns,
		Partition: x.claim.Partition, Token: x.claim.Token.String(),
		MaxRows: x.run.job.ChunkRows, TargetBytes: x.run.job.ChunkBytes, Report: x.report,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Abort()) }()
	columns := x.run.Query.Table.Columns
	tally, err := extract.NewTally(columns, x.run.Measures)
	if err != nil {
		return err
	}
	batch := extract.NewBatch(columns, x.env.Limits.BatchRows, x.env.Limits.BatchBytes)
	for {
		err := reader.Next(ctx, batch)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read partition %d (%s) after %d rows: %w", x.claim.Partition, x.claim.Display, x.rows.Load(), err)
		}
		tally.Add(batch)
		if err := w.Write(ctx, batch); err != nil {
			return err
		}
		x.rows.Add(int64(batch.Rows))
	}
	chunks, rows, err := w.Close(ctx)
	if err != nil {
		return err
	}
	return x.finish(ctx, ledger.FinishReport{Chunks: chunks, Rows: rows, Metrics: toLedger(tally.Metrics())})
}

// report records a chunk that is durable.
func (x *extraction) report(ctx context.Context, c stage.Chunk) error {
	return x.env.retryLedger(ctx, func() error {
		return x.env.Ledger.ReportChunk(ctx, x.claim.Held, ledger.File{Index: c.Index, Path: c.Path, Rows: c.Rows, Bytes: c.Bytes, Digest: c.Digest})
	})
}

func (x *extraction) finish(ctx context.Context, r ledger.FinishReport) error {
	return x.env.retryLedger(ctx, func() error {
		out, err := x.env.Ledger.FinishPartition(ctx, x.claim.Held, r)
		if err == nil {
			x.log.Info("partition finished", "rows", r.Rows, "chunks", r.Chunks, "state", out.Run)
		}
		return err
	})
}

// settle tells the ledger how an attempt that did not finish ended.
func (x *extraction) settle(ctx context.Context, err error) error {
	c := Classify(err)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ledger.ErrMismatch):
		x.log.Error("partition differs from the source", "err", err, "class", c.Code)
		return nil // recorded already, with the run's end
	case errors.Is(err, ErrStop):
		return x.giveBack(ctx, ledger.Lost{Class: "STOPPED", Message: "handed back at shutdown"})
	case c.Kind == Stale || errors.Is(err, ErrLeaseLost):
		x.log.Warn("partition dropped", "err", err)
		return nil
	case c.Kind == Transient:
		x.log.Warn("partition will be tried again", "err", err, "class", c.Code)
		return x.giveBack(ctx, ledger.Lost{Class: c.Code, Message: err.Error(), Counted: true, After: pause(x.claim.Attempt)})
	}
	event := ledger.EventExtractFailed
	if c.Kind == Expired {
		event = ledger.EventSnapshotGone
	}
	x.log.Error("partition failed", "err", err, "class", c.Code)
	return x.env.retryLedger(ctx, func() error {
		_, err := x.env.Ledger.FailPartition(ctx, x.claim.Held, ledger.Failure{Event: event, Class: c.Code, Message: err.Error()})
		return ignoreStale(err)
	})
}

func (x *extraction) giveBack(ctx context.Context, lost ledger.Lost) error {
	return x.env.retryLedger(ctx, func() error {
		_, err := x.env.Ledger.RetryPartition(ctx, x.claim.Held, lost)
		return ignoreStale(err)
	})
}

// heartbeat renews the lease until ctx ends, and ends ctx when the partition is no longer ours, or before the lease
// could have been given away.
func (x *extraction) heartbeat(ctx context.Context, cancel context.CancelCauseFunc) {
	t := x.env.Timing
	last := time.Now()
	for x.wake.every(ctx, t.Heartbeat) {
		call, done := context.WithTimeout(ctx, t.Heartbeat)
		beat, err := x.env.Ledger.Heartbeat(call, x.claim.Held, x.rows.Load(), t.Stale)
		done()
		switch {
		case err == nil && !beat.Owned:
			cancel(fmt.Errorf("%w: the run is %s", ErrLeaseLost, beat.State))
			return
		case err == nil:
			last = time.Now()
		case time.Since(last) > t.Stale-2*t.Heartbeat:
			cancel(fmt.Errorf("%w: no heartbeat for %s: %w", ErrLeaseLost, time.Since(last).Round(time.Second), err))
			return
		}
	}
}

// pause is the wait before attempt n+1.
func pause(n int) time.Duration { return min(time.Duration(1<<min(n, 6))*time.Second, time.Minute) }

// ignoreStale drops the answer that somebody else has decided already.
func ignoreStale(err error) error {
	if errors.Is(err, ledger.ErrStale) {
		return nil
	}
	return err
}

// toLedger maps metrics from the port's form to the ledger's.
func toLedger(ms []extract.Metric) []ledger.Metric {
	out := make([]ledger.Metric, len(ms))
	for i, m := range ms {
		out[i] = ledger.Metric{Column: m.Column, Name: string(m.What)}
		if !m.Null {
			out[i].Value = &ms[i].Value
		}
	}
	return out
}
