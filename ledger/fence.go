package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Verdict is what the evidence says that an attempt to publish did to its target.
type Verdict string

// The verdicts.
const (
	Applied    Verdict = "APPLIED"     // all of it
	NotApplied Verdict = "NOT_APPLIED" // nothing
	Damaged    Verdict = "DAMAGED"     // a part of it
	Conflict   Verdict = "CONFLICT"    // the target is neither what it was nor what was sent
	Undecided  Verdict = "UNDECIDED"   // nothing is proved
)

// Fenced is the answer to Fence.
type Fenced struct {
	NeverArmed bool    // nothing was sent, which needs no proof: the run is back at STAGING_VALIDATED
	Attempt    Attempt // whose session is to be closed, unless NeverArmed
	Run        Run
}

// Fence is the first half of reconciling: after it nothing can arm under the token. A run that is PUBLISHING goes to
// PUBLISH_UNKNOWN if it armed, and back to STAGING_VALIDATED, with a new dispatch and the verdict NOT_APPLIED, if it
// never did. It guards: state and token are those that the caller saw, and the ledger's timeline is compared. A run that
// is PUBLISH_UNKNOWN already stays; if its attempt never armed, it is there because of a mark of another one, which must
// be adopted by MarkFound first, or proved harmless (NeverArmed). The other half is closing the session, told by RecordFence. A repeat is answered as
// recorded.
func (l *Ledger) Fence(ctx context.Context, hold Hold, by string) (Fenced, error) {
	var f Fenced
	err := l.decide(ctx, func(tx pgx.Tx) (err error) {
		f.NeverArmed, err = l.fence(ctx, tx, hold, by)
		return err
	})
	if err != nil {
		return Fenced{}, fmt.Errorf("fence publish: %w", err)
	}
	attempts, err := l.Attempts(ctx, hold.Run)
	if err != nil {
		return f, err
	}
	for _, a := range attempts {
		if a.Token == hold.Token {
			f.Attempt = a
		}
	}
	f.Run, err = l.Run(ctx, hold.Run)
	return f, err
}

func (l *Ledger) fence(ctx context.Context, tx pgx.Tx, hold Hold, by string) (neverArmed bool, err error) {
	run, err := lock(ctx, tx, hold.Run)
	if err != nil {
		return false, err
	}
	if !run.publishes(hold.Token) {
		_, done, err := repeated(ctx, tx, hold.Run, hold.Token, EventNotArmed)
		if err == nil && !done {
			err = run.stale("the publish is not this token's")
		}
		return done, err
	}
	_, a, err := lockAttempt(ctx, tx, hold, run.State)
	switch {
	case err != nil:
		return false, err
	case run.State == PublishUnknown && a.Armed:
		return false, nil
	case run.State == PublishUnknown:
		return false, run.stale("it never armed: a mark of another publish was met, and must be adopted, or proved harmless, before anything is decided")
	case a.Armed:
		return false, l.endPublish(ctx, tx, run, a, hold, Result{Event: EventPublishUnknown, Class: CodePublishUnknown, By: by,
			Message: "fenced before its result came"})
	}
	r := Result{Event: EventNotArmed, By: by, Message: "fenced before it armed: nothing was sent, and nothing can be"}
	if err := l.endPublish(ctx, tx, run, a, hold, r); err != nil {
		return true, err
	}
	return true, execOne(ctx, tx, "publish_never_armed", args{"token": hold.Token})
}

// publishes says whether the run's publish is this token's and not over.
func (r locked) publishes(token uuid.UUID) bool {
	return (r.State == Publishing || r.State == PublishUnknown) && r.PublishToken != nil && *r.PublishToken == token
}

// NeverArmed ends PUBLISH_UNKNOWN of an attempt that the ledger knows not to have armed and that met a mark where its own
// should be, once that mark is proved to be harmless (one that was never written to its end, say: its publisher cannot
// have come to its arm). The run goes back to STAGING_VALIDATED, with a new dispatch. It guards that the run is
// PUBLISH_UNKNOWN under the token, and not armed. A repeat is answered as recorded.
func (l *Ledger) NeverArmed(ctx context.Context, hold Hold, why, by string) (Run, error) {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, hold.Run)
		if err != nil {
			return err
		}
		if !run.publishes(hold.Token) {
			if _, done, err := repeated(ctx, tx, hold.Run, hold.Token, EventNotArmed); err != nil || done {
				return err
			}
		}
		run, a, err := lockAttempt(ctx, tx, hold, PublishUnknown)
		if err != nil {
			return err
		}
		if a.Armed {
			return run.stale("the publish is armed, so its statement may have been sent")
		}
		if err := execOne(ctx, tx, "publish_never_armed", args{"token": hold.Token}); err != nil {
			return err
		}
		_, err = l.advance(ctx, tx, run, move{event: EventNotArmed, token: hold.Token, by: by, message: why})
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("release publish: %w", err)
	}
	return l.Run(ctx, hold.Run)
}

// RecordFence stores how the attempt's session was fenced. proved says that nothing of it can be under way or come any
// more: its own server has closed it, does not know it, or has started again since. Without proof the attempt stays
// unfenced, and the only verdict on it is UNDECIDED. A proof stays; what is told later takes nothing from it. It guards
// that the run is PUBLISH_UNKNOWN under the token.
func (l *Ledger) RecordFence(ctx context.Context, hold Hold, proved bool, how json.RawMessage) error {
	if !json.Valid(how) {
		return invalid("record fence: how it was done must be JSON")
	}
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, a, err := lockAttempt(ctx, tx, hold, PublishUnknown)
		if err != nil {
			return err
		}
		if !a.Armed {
			return run.stale("it never armed, so there is no session to fence")
		}
		if err := execOne(ctx, tx, "publish_fence", args{"token": hold.Token, "done": proved, "fence": string(how)}); err != nil {
			return err
		}
		return l.publishEvent(ctx, tx, hold, map[bool]string{true: "FENCED", false: "NOT_FENCED"}[proved], string(how), "")
	})
	if err != nil {
		return fmt.Errorf("record fence: %w", err)
	}
	return nil
}

// RecordObservation stores what the target looks like, and returns the database's time of it: the time from which
// publish.settle counts until the next one. Two observations are compared as JSON, so what differs by itself (the time
// of the observation, say) does not belong into it. It guards that the run is PUBLISH_UNKNOWN under the token.
func (l *Ledger) RecordObservation(ctx context.Context, hold Hold, seen json.RawMessage) (time.Time, error) {
	if !json.Valid(seen) {
		return time.Time{}, invalid("record observation: it must be JSON")
	}
	type clock struct{ Now time.Time }
	var at clock
	err := l.decide(ctx, func(tx pgx.Tx) error {
		_, _, err := lockAttempt(ctx, tx, hold, PublishUnknown)
		if err != nil {
			return err
		}
		at, _, err = one[clock](ctx, tx, "publish_observe", args{"token": hold.Token, "seen": string(seen)})
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("record observation: %w", err)
	}
	return at.Now, nil
}

// Judgement is a verdict and what it was drawn from.
type Judgement struct {
	Verdict Verdict
	Settle  time.Duration   // how long the target must have looked the same, counted from the fence
	Detail  json.RawMessage // the comparison with E0 and with what was staged
}

// RecordVerdict stores a verdict under the attempt's token; a later one replaces it until the run is resolved. DAMAGED
// also marks the run's target as damaged, until the key's next SUCCESS. It guards: the run is PUBLISH_UNKNOWN under the
// token; the ledger's timeline is compared (ErrTimeline); and, unless UNDECIDED, the attempt is fenced and its last
// observations since the fence, two at least, are equal over no less than Settle by the database's clock (ErrInvalid).
func (l *Ledger) RecordVerdict(ctx context.Context, hold Hold, j Judgement) error {
	switch j.Verdict {
	case Applied, NotApplied, Damaged, Conflict, Undecided:
	default:
		return invalid("record verdict: unknown verdict %q", j.Verdict)
	}
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, a, err := lockAttempt(ctx, tx, hold, PublishUnknown)
		if err != nil {
			return err
		}
		if j.Verdict != Undecided {
			if err := settled(ctx, tx, run, a, hold, j.Settle); err != nil {
				return err
			}
		}
		n, err := exec(ctx, tx, "publish_verdict", args{"token": hold.Token, "verdict": j.Verdict, "detail": nullJSON(j.Detail)})
		if err != nil {
			return err
		}
		if n == 0 { // the run is locked and not resolved, so only the gate can have refused
			return fmt.Errorf("run %s in %s: %w", run.ID, run.State, ErrTimeline)
		}
		if err := l.publishEvent(ctx, tx, hold, "VERDICT", string(j.Verdict), ""); err != nil || j.Verdict != Damaged {
			return err
		}
		return l.damage(ctx, tx, run)
	})
	if err != nil {
		return fmt.Errorf("record verdict: %w", err)
	}
	return nil
}

// settled says whether the target has looked the same for long enough since the fence.
func settled(ctx context.Context, tx pgx.Tx, run locked, a publishRow, hold Hold, settle time.Duration) error {
	if !a.Fenced {
		return run.stale("the publish is not fenced: its statement may still be under way")
	}
	type seen struct {
		Count   int
		Settled bool
	}
	s, _, err := one[seen](ctx, tx, "publish_settled", args{"token": hold.Token, "settle": settle})
	if err == nil && (s.Count < 2 || !s.Settled) {
		err = invalid("the last %d observations since the fence are equal, but not two or more over %s", s.Count, settle)
	}
	return err
}

// damage raises the flag that no end of this run, and no later failure, may hide.
func (l *Ledger) damage(ctx context.Context, tx pgx.Tx, run locked) error {
	if run.TargetDamaged {
		return nil
	}
	if err := execOne(ctx, tx, "run_damaged", args{"run": run.ID}); err != nil {
		return err
	}
	return l.event(ctx, tx, Entry{Run: run.ID, Kind: KindAlert, Code: CodeTargetDamaged,
		Message: "the target holds a part of what was published; it stays so until the next run of this key succeeds"})
}

// publishEvent appends to the audit of an attempt.
func (l *Ledger) publishEvent(ctx context.Context, tx pgx.Tx, hold Hold, code, message, by string) error {
	return l.event(ctx, tx, Entry{Run: hold.Run, Kind: KindPublish, Code: code, Message: message, Detail: tokenDetail(hold.Token), By: by})
}
