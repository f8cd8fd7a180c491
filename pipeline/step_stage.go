package pipeline

import (
	"context"
	"fmt"
	"strconv"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// validateStage seals the run's chunks and proves, file by file and then through the warehouse, that what is staged is
// what was read.
//
// Before: STAGE_VALIDATING under our token, every partition SUCCESS. After: STAGING_VALIDATED, or
// FAILED_STAGE_VALIDATION with both values. In order: the manifest is read from the ledger (none but its chunks count);
// the chunks are sealed (stage.Seal says what a crash between two of its effects leaves); every sealed file is read
// back and its content compared with the digest that was taken while it was written; the staging table is made over the
// directory (made already is success); the warehouse measures it; what was measured is recorded under our token, and the
// ledger compares. A late owner's records are refused.
func (w *work) validateStage(ctx context.Context) error {
	f, err := w.thawHere(ctx, w.own.Run.ID)
	if err != nil {
		return err
	}
	ctx = publish.WithTag(ctx, tag(f.run))
	manifest, err := w.manifest(ctx, f)
	if err != nil {
		return err
	}
	if err := w.seal(ctx, f, manifest); err != nil {
		return err
	}
	stream, err := w.streamMetrics(ctx, f)
	if err != nil {
		return err
	}
	staging := w.staging(f)
	if err := w.Warehouse.Stage(ctx, staging); err != nil {
		return err
	}
	measured, err := w.Warehouse.Measure(ctx, publish.Scope{Staging: &staging}, f.WarehouseMeasures())
	if err != nil {
		return err
	}
	if err := w.record(ctx, ledger.StageStream, stream); err != nil {
		return err
	}
	if err := w.record(ctx, ledger.StageStaging, toLedger(measured)); err != nil {
		return err
	}
	return w.retryLedger(ctx, func() error {
		_, err := w.Ledger.StagingValidated(ctx, w.hold(), asJSON(map[string]any{"chunks": len(manifest.Chunks), "directory": staging.Location}))
		return err
	})
}

// seal moves the chunks into the run's directory and reads them back.
func (w *work) seal(ctx context.Context, f *frozen, m stage.Manifest) error {
	if err := stage.Seal(ctx, w.Store, f.layout, m); err != nil {
		return err
	}
	if err := w.retryLedger(ctx, func() error { return w.Ledger.Sealed(ctx, w.hold(), f.layout.RunDir()) }); err != nil {
		return err
	}
	return stage.VerifySealed(ctx, w.Store, f.layout, m, stage.Readback{
		Format: w.Format, Columns: f.Columns, Parallel: max(w.Limits.Workers/2, 1), MaxRows: w.Limits.BatchRows, MaxBytes: w.Limits.BatchBytes,
	})
}

// record stores what was measured. Differences are not acted upon here: the ledger judges what is stored.
func (w *work) record(ctx context.Context, at ledger.Stage, ms []ledger.Metric) error {
	return w.retryLedger(ctx, func() error {
		_, err := w.Ledger.RecordMetrics(ctx, w.hold(), at, ms)
		return err
	})
}

// streamMetrics merges what the winning attempts measured, partition by partition, into metrics of the whole run. A
// partition that was expected to be empty was never read: it counts as what nothing measures.
func (w *work) streamMetrics(ctx context.Context, f *frozen) ([]ledger.Metric, error) {
	partitions, err := w.Ledger.Partitions(ctx, f.run.ID)
	if err != nil {
		return nil, err
	}
	recorded, err := w.Ledger.Validations(ctx, f.run.ID)
	if err != nil {
		return nil, err
	}
	parts := [][]extract.Metric{f.nothing()}
	for _, p := range partitions {
		if p.Expected != nil && *p.Expected == 0 && p.Attempts == 0 {
			continue
		}
		parts = append(parts, streamed(recorded, p.Index, f.Measures))
	}
	merged, err := extract.Merge(parts...)
	if err != nil {
		return nil, fmt.Errorf("%w: merge the partitions' metrics: %w", ErrMismatch, err)
	}
	return toLedger(merged), nil
}

// streamed picks the stream metrics of the attempt that finished a partition, in the order of the measures.
func streamed(recorded []ledger.Measured, partition int, order []extract.Measure) []extract.Metric {
	byName := map[extract.Measure]*string{}
	for _, v := range recorded {
		if v.Stage == ledger.StageStream && v.Partition == partition {
			byName[extract.Measure{Column: v.Column, What: extract.What(v.Name)}] = v.Value
		}
	}
	var out []extract.Metric
	for _, m := range order {
		value, ok := byName[extract.Measure{Column: m.Column, What: m.What}]
		if !ok {
			continue
		}
		metric := extract.Metric{Column: m.Column, What: m.What, Null: value == nil}
		if value != nil {
			metric.Value = *value
		}
		out = append(out, metric)
	}
	return out
}

// nothing is what the measures are of no rows: the neutral element of a merge.
func (f *frozen) nothing() []extract.Metric {
	out := make([]extract.Metric, len(f.Measures))
	for i, m := range f.Measures {
		out[i] = extract.Metric{Column: m.Column, What: m.What, Value: "0"}
		if m.What != extract.Rows && m.What != extract.NonNull {
			out[i].Value, out[i].Null = "", true
		}
	}
	return out
}

// tag marks every statement of a run in the warehouse: "loadctl-<run>-<publish attempt>".
func tag(r ledger.Run) string {
	return "loadctl-" + r.ID.String() + "-" + strconv.Itoa(r.PublishAttempt)
}
