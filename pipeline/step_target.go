package pipeline

import (
	"context"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
)

// validateTarget proves that the target's partition is what was staged.
//
// Before: PUBLISHED. After: SUCCESS, or FAILED_TARGET_VALIDATION with both values; the staging table is gone after
// SUCCESS and stays for inspection after a failure. In order: the warehouse measures the target by the very expressions
// that staging was measured by; what it found is recorded under our token; the ledger compares and moves the run; the
// staging table is dropped (its files stay: they are the cleaner's). A crash after the move leaves a staging table to the
// cleaner.
func (w *work) validateTarget(ctx context.Context) error {
	f, err := w.thawHere(ctx, w.own.Run.ID)
	if err != nil {
		return err
	}
	ctx = publish.WithTag(ctx, tag(f.run))
	measured, err := w.Warehouse.Measure(ctx, publish.Scope{Target: &f.Target}, f.WarehouseMeasures())
	if err != nil {
		return err
	}
	if err := w.record(ctx, ledger.StageTarget, toLedger(measured)); err != nil {
		return err
	}
	err = w.retryLedger(ctx, func() error {
		_, err := w.Ledger.Verified(ctx, w.hold(), nil)
		return err
	})
	if err != nil {
		return err
	}
	staging := w.staging(f)
	if err := w.Warehouse.Unstage(ctx, staging); err != nil {
		w.log.Warn("staging table left behind", "table", staging.Database+"."+staging.Table, "err", err)
	}
	return nil
}
