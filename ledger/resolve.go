package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ResolveAs is the word on a publish whose outcome was not known.
type ResolveAs string

// The words.
const (
	AsPublished ResolveAs = "published" // the target changed: on to its validation
	AsFailed    ResolveAs = "failed"    // over without success
	AsRepublish ResolveAs = "republish" // publish the sealed data again, with a new token
)

func (as ResolveAs) event() (Event, error) {
	switch as {
	case AsPublished:
		return EventResolvePub, nil
	case AsFailed:
		return EventResolveFailed, nil
	case AsRepublish:
		return EventRepublish, nil
	}
	return "", invalid("resolve: as %q: want published, failed or republish", as)
}

// Resolution is a person's word, or that of the proof.
type Resolution struct {
	As     ResolveAs
	Reason string // required
	By     string // the ledger's By if empty
	Proof  bool   // by the verdict alone: APPLIED is published, NOT_APPLIED is failed
}

// Resolve ends PUBLISH_UNKNOWN: to PUBLISHED, with the dispatch VALIDATE_TARGET; to FAILED_PUBLISH, which says unchanged
// only by a verdict NOT_APPLIED on a target that no attempt of this run damaged, damaged where one did, else unverified;
// or back to STAGING_VALIDATED, with the dispatch PUBLISH. It guards: state and token are those that the caller saw, so
// a late word never decides about another attempt; the attempt is fenced; the word does not contradict the verdict
// (*ResolveError); the ledger's timeline is compared. A repeat is answered as recorded.
func (l *Ledger) Resolve(ctx context.Context, hold Hold, r Resolution) (Run, error) {
	event, err := r.As.event()
	if err != nil {
		return Run{}, err
	}
	if strings.TrimSpace(r.Reason) == "" {
		return Run{}, invalid("resolve: a reason is required")
	}
	if r.By == "" {
		r.By = l.cfg.By
	}
	err = l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, hold.Run)
		if err != nil {
			return err
		}
		if !run.publishes(hold.Token) {
			if _, done, err := repeated(ctx, tx, hold.Run, hold.Token, event); err != nil || done {
				return err
			}
		}
		run, a, err := lockAttempt(ctx, tx, hold, PublishUnknown)
		if err != nil {
			return err
		}
		return l.resolve(ctx, tx, run, a, hold, r, event)
	})
	if err != nil {
		return Run{}, fmt.Errorf("resolve publish: %w", err)
	}
	return l.Run(ctx, hold.Run)
}

func (l *Ledger) resolve(ctx context.Context, tx pgx.Tx, run locked, a publishRow, hold Hold, r Resolution, event Event) error {
	if why := r.refused(a); why != "" {
		return &ResolveError{Run: run.ID, As: r.As, Verdict: a.Verdict, Why: why}
	}
	err := execOne(ctx, tx, "publish_resolve", args{"token": hold.Token, "as": r.As, "by": r.By, "reason": r.Reason})
	if err != nil {
		return err
	}
	m := move{event: event, by: r.By, token: hold.Token, message: r.Reason}
	if r.As == AsFailed {
		m.outcome, m.class = outcomeOf(run, a), classRunFailed
	}
	if m.detail, err = json.Marshal(map[string]any{"verdict": a.Verdict, "proof": r.Proof}); err != nil {
		return err
	}
	_, err = l.advance(ctx, tx, run, m)
	return err
}

// refused says why a word cannot be taken, or nothing.
func (r Resolution) refused(a publishRow) string {
	switch {
	case !a.Fenced:
		return "the publish is not fenced, so its statement may still be under way; reconcile it first"
	case r.Proof && !(a.Verdict == Applied && r.As == AsPublished || a.Verdict == NotApplied && r.As == AsFailed):
		return "this is not proved; a person has to decide"
	case r.As == AsPublished && (a.Verdict == NotApplied || a.Verdict == Damaged):
		return "the target does not hold what was published"
	case r.As == AsFailed && a.Verdict == Applied:
		return "the target holds what was published"
	case r.As == AsRepublish && a.Verdict != NotApplied && a.Verdict != Damaged:
		return "to publish again needs the verdict NOT_APPLIED or DAMAGED"
	}
	return ""
}

// outcomeOf is what FAILED_PUBLISH says of the target. Damage by an earlier attempt of the run is not forgotten.
func outcomeOf(run locked, a publishRow) string {
	switch {
	case run.TargetDamaged || a.Verdict == Damaged:
		return TargetDamaged
	case a.Verdict == NotApplied:
		return TargetUnchanged
	}
	return TargetUnverified
}
