package pipeline

import (
	"context"
	"errors"
	"fmt"
	"path"
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

// CleanAtOnce bounds how many runs one call of Clean cleans.
const CleanAtOnce = 50

// Clean deletes the staged files of runs that ended longer ago than they are kept for, those that ended first in front,
// a bounded number at once.
func (e *Env) Clean(ctx context.Context, keep ledger.Retention) ([]CleanedRun, error) {
	runs, err := e.Ledger.Cleanable(ctx, keep, CleanAtOnce)
	if err != nil {
		if errors.Is(err, ledger.ErrTimeline) {
			return nil, nil // waits for the comparison
		}
		return nil, err
	}
	return e.CleanRuns(ctx, runs, "kept for as long as retention says")
}

// CleanRuns deletes the staged files of runs: by the ledger's word, which never lets go a run that is active or unknown,
// and by the metastore's, which is asked where the target points. In order: the ledger is asked again; the target is looked
// at (a directory that is, or lies above, its location stays; a warehouse that does not answer means that nothing is
// deleted); the staging table is dropped; the attempts, then the run's directory are deleted, each only with the matching
// owner file; the ledger is told, with the reason. A crash between any two is repeated by the next call. A run that cannot
// be cleaned does not keep the others from it, unless what it met (a place that is away) will meet them too.
func (e *Env) CleanRuns(ctx context.Context, runs []ledger.Run, why string) ([]CleanedRun, error) {
	var out []CleanedRun
	var errs []error
	for _, run := range runs {
		kept, err := e.cleanRun(ctx, run, why)
		if err != nil {
			errs = append(errs, fmt.Errorf("clean %s: %w", run.Handle(), err))
			if Classify(err).Kind == Transient || ctx.Err() != nil {
				break // the next would fail alike
			}
			continue
		}
		out = append(out, CleanedRun{run, kept})
	}
	return out, errors.Join(errs...)
}

func (e *Env) cleanRun(ctx context.Context, run ledger.Run, why string) (kept string, err error) {
	if run, err = e.Ledger.Run(ctx, run.ID); err != nil {
		return "", err
	}
	if kept, err = e.held(ctx, run); err != nil || kept != "" {
		return kept, err
	}
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
	return "", e.Ledger.Cleaned(ctx, run.ID, asJSON(map[string]string{"directory": layout.RunDir(), "by": e.Host, "reason": why}))
}

// held says why the ledger does not let a run's files go now, whatever it said when the run was listed.
func (e *Env) held(ctx context.Context, run ledger.Run) (why string, err error) {
	t, err := e.Ledger.Timelines(ctx)
	switch {
	case err != nil:
		return "", err
	case !t.Same():
		return "", ledger.ErrTimeline
	case run.State.Active():
		return "it is " + string(run.State), nil
	case run.TargetDamaged:
		return "its target is damaged, and these files may be what mends it", nil
	case run.CleanedAt != nil:
		return "somebody else has deleted them", nil
	}
	return "", nil
}

// unstage asks the warehouse whether anything points at the run's directory, and drops the staging table.
func (e *Env) unstage(ctx context.Context, run ledger.Run, l stage.Layout) (kept string, err error) {
	f, err := e.thaw(ctx, run.ID)
	if err != nil {
		return "", err
	}
	if err := e.check(ctx, f.Identities); err != nil {
		return "", err // another warehouse's word is none
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

// below says whether a location is a directory or lies in it. Only paths count: the metastore names the store in its own
// way (a nameservice, a host, with or without a port), and to keep too much does no harm.
func below(location, dir string) bool {
	location, dir = pathOf(location), pathOf(dir)
	return location == dir || strings.HasPrefix(location, strings.TrimSuffix(dir, "/")+"/")
}

// pathOf leaves scheme and authority out. Nothing is unescaped: "%2F" in a partition's directory is a name.
func pathOf(uri string) string {
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		uri = "/" + rest
	}
	return path.Clean(uri)
}
