package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// CleanedRun is a run whose staged files were deleted, or why they were not.
type CleanedRun struct {
	Run  ledger.Run
	Kept string // "" if they are deleted
}

// cleanAtOnce bounds how many runs one call cleans.
const cleanAtOnce = 50

// Clean deletes the staged files of runs that ended longer ago than they are kept for: by the ledger's word, which never
// lets go a run that is active or unknown, and by the metastore's, which is asked where the target points. In order: the
// target is looked at (a directory that is, or lies above, its location stays; a warehouse that does not answer means
// that nothing is deleted); the staging table is dropped; the attempts, then the run's directory are deleted, each only
// with the matching owner file; the ledger is told. A crash between any two is repeated by the next call.
func (e *Env) Clean(ctx context.Context, keep ledger.Retention) ([]CleanedRun, error) {
	runs, err := e.Ledger.Cleanable(ctx, keep, cleanAtOnce)
	if err != nil {
		if errors.Is(err, ledger.ErrTimeline) {
			return nil, nil // waits for the comparison
		}
		return nil, err
	}
	var out []CleanedRun
	for _, run := range runs {
		kept, err := e.cleanRun(ctx, run)
		if err != nil {
			return out, fmt.Errorf("clean %s: %w", run.Handle(), err)
		}
		out = append(out, CleanedRun{run, kept})
	}
	return out, nil
}

// cleanRun deletes the files of one run, or says why it keeps them.
func (e *Env) cleanRun(ctx context.Context, run ledger.Run) (kept string, err error) {
	layout, err := e.Layout(run)
	if err != nil {
		return "", err
	}
	if len(run.PlanDetail) > 0 {
		if kept, err = e.unstage(ctx, run, layout); err != nil || kept != "" {
			return kept, err
		}
	}
	for _, remove := range []func(context.Context, stage.Store, stage.Layout) error{stage.RemoveAttempts, stage.RemoveRun} {
		if err := remove(ctx, e.Store, layout); err != nil && !errors.Is(err, stage.ErrNotExist) {
			return "", err
		}
	}
	return "", e.Ledger.Cleaned(ctx, run.ID, asJSON(map[string]string{"directory": layout.RunDir(), "by": e.Host}))
}

// unstage asks the warehouse whether anything points at the run's directory, and drops the staging table.
func (e *Env) unstage(ctx context.Context, run ledger.Run, l stage.Layout) (kept string, err error) {
	f, err := e.thaw(ctx, run.ID)
	if err != nil {
		return "", err
	}
	now, err := e.Warehouse.Observe(ctx, f.Target)
	if err != nil && !errors.Is(err, publish.ErrNoTarget) {
		return "", err
	}
	if dir := e.Store.URI(l.RunDir()); below(now.Location, dir) {
		return "the target's location is " + now.Location, nil
	}
	return "", e.Warehouse.Unstage(ctx, e.staging(f))
}

// below says whether a location is a directory or lies in it.
func below(location, dir string) bool {
	return location == dir || strings.HasPrefix(location, strings.TrimSuffix(dir, "/")+"/")
}
