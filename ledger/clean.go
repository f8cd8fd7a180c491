package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Retention says how long the files of a run are kept after its end.
type Retention struct {
	Success time.Duration // of SUCCESS and SKIPPED
	Failed  time.Duration // of every other end
}

// Cleanable lists runs whose files may be deleted by the ledger's word, those that ended first in front. The word of the
// metastore is asked for apart: after a swap the sealed directory is the partition. It guards: the run is over, and for
// longer than its retention; it is not cleaned yet; its target is not damaged, since the sealed files may be what mends
// it. While the ledger's timeline is not compared the answer is ErrTimeline: what ended may not have.
func (l *Ledger) Cleanable(ctx context.Context, keep Retention, limit int) ([]Run, error) {
	t, err := l.Timelines(ctx)
	if err == nil && !t.Same() {
		err = ErrTimeline
	}
	if err != nil {
		return nil, fmt.Errorf("list runs to clean: %w", err)
	}
	runs, err := l.found(ctx, "run_cleanable", args{"success": keep.Success, "failed": keep.Failed, "limit": max(limit, 1)})
	if err != nil {
		return nil, fmt.Errorf("list runs to clean: %w", l.connectError(err))
	}
	return runs, nil
}

// Cleaned records that a run's files are deleted. It guards what Cleanable guards, except the retention. A repeat
// changes nothing.
func (l *Ledger) Cleaned(ctx context.Context, id uuid.UUID, what json.RawMessage) error {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, id)
		if err != nil || run.Cleaned {
			return err
		}
		n, err := exec(ctx, tx, "run_cleaned", args{"run": id})
		switch {
		case err != nil:
			return err
		case n == 0 && run.State.Active():
			return run.stale("the files of a run that is not over are not cleaned")
		case n == 0 && run.TargetDamaged:
			return run.stale("its target is damaged, and its files may be what mends it")
		case n == 0:
			return fmt.Errorf("run %s in %s: %w", run.ID, run.State, ErrTimeline)
		}
		return l.event(ctx, tx, Entry{Run: id, Kind: KindNote, Code: CodeCleaned, Message: "its files were deleted", Detail: what})
	})
	if err != nil {
		return fmt.Errorf("record cleaning: %w", err)
	}
	return nil
}
