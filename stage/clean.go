package stage

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
)

// RemoveAttempts deletes the directory of a run's attempts, RemoveRun the sealed one. Both refuse, with
// ErrMismatch, a directory whose OwnerFile is missing (unless it holds nothing yet) or names somebody else; one that is
// not there is no error.
//
// Whether anything may be deleted at all is not known here: the ledger (is the run over, and for how long) and
// the metastore (does a table or partition point at this directory or below) are asked by the caller, before.
func RemoveAttempts(ctx context.Context, s Store, l Layout) error {
	return removeOwned(ctx, s, l, l.AttemptsDir())
}

// RemoveRun deletes the sealed directory of a run. See RemoveAttempts.
func RemoveRun(ctx context.Context, s Store, l Layout) error {
	return removeOwned(ctx, s, l, l.RunDir())
}

func removeOwned(ctx context.Context, s Store, l Layout, dir string) error {
	if _, err := s.Stat(ctx, dir); errors.Is(err, ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("clean %s: %w", dir, err)
	}
	err := checkOwner(ctx, s, l, dir)
	if errors.Is(err, ErrNotExist) {
		return removeBegun(ctx, s, dir)
	}
	if err != nil {
		return fmt.Errorf("clean %s: %w", dir, err)
	}
	return s.Remove(ctx, dir)
}

// removeBegun deletes a directory without OwnerFile if its process died before the file had its place: nothing is in it but
// drafts, which are of no use to anybody.
func removeBegun(ctx context.Context, s Store, dir string) error {
	entries, err := s.List(ctx, dir)
	if err != nil {
		return fmt.Errorf("clean %s: %w", dir, err)
	}
	for _, e := range entries {
		if e.Dir || !strings.HasPrefix(path.Base(e.Path), draftPrefix) {
			return fmt.Errorf("clean %s: it has no %s, so it is not known to be ours: %w", dir, OwnerFile, ErrMismatch)
		}
	}
	return s.Remove(ctx, dir)
}
