package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Attempt is one attempt to publish a run, with its evidence. It is claimed by OwnStep of a PUBLISH.
type Attempt struct {
	Number      int // n in the name of the mark
	Token       uuid.UUID
	Timeline    string // of the ledger at the claim
	ClaimedBy   string
	ClaimedAt   time.Time
	ArmedAt     *time.Time      // nil: nothing can have been sent
	Evidence    json.RawMessage // of the target before the statement
	Session     json.RawMessage // handle of the session that the statement is sent on
	Instance    string          // the server's own address, never a balancer's
	Tag         string
	Operation   json.RawMessage // handle of the statement
	QueryID     string
	Progress    json.RawMessage
	RowsWritten *int64 // as the warehouse says
	After       json.RawMessage
	EndedAt     *time.Time
	Outcome     string // published, failed, unknown, not_armed; empty while it runs

	Mark         *int            // the number of the mark that the arm was read from; nil: the ledger has its own
	FencedAt     *time.Time      // nil: its statement may still be under way
	Fence        json.RawMessage // how it was fenced, or why it could not be
	Observations json.RawMessage // of the target: [{"at": …, "seen": …}]
	Verdict      Verdict         // empty: none yet
	VerdictAt    *time.Time
	JudgedBy     json.RawMessage // what the verdict was drawn from
	ResolvedAs   ResolveAs       // empty: not resolved
	ResolvedAt   *time.Time
	ResolvedBy   string
	Reason       string
}

// Arming is what the arm stores.
type Arming struct {
	Evidence json.RawMessage
	Session  json.RawMessage
	Instance string
	Tag      string
}

func (a Arming) check() error {
	if len(a.Evidence) == 0 || len(a.Session) == 0 || a.Instance == "" || a.Tag == "" {
		return invalid("arm publish: evidence, session, instance and tag are required")
	}
	return nil
}

// Arm gives the right to send the statement, once. One UPDATE that also stores the evidence and the session. It guards:
// the run is PUBLISHING under this token; it was not armed before; the ledger's timeline still is that of the claim, and
// is the one last compared (ErrTimeline otherwise). Only a caller to whom Arm returned nil may send. Arm is not to be
// repeated: after ErrCommitUnknown read Attempts; an attempt whose ArmedAt is set under this token was armed by this call.
func (l *Ledger) Arm(ctx context.Context, hold Hold, a Arming) error {
	if err := a.check(); err != nil {
		return err
	}
	err := l.decide(ctx, func(tx pgx.Tx) error {
		n, err := exec(ctx, tx, "publish_arm", args{"run": hold.Run, "token": hold.Token, "evidence": string(a.Evidence),
			"session": string(a.Session), "instance": a.Instance, "tag": a.Tag})
		if err != nil {
			return err
		}
		if n != 1 {
			return refusedArm(ctx, tx, hold)
		}
		return l.event(ctx, tx, Entry{Run: hold.Run, Kind: KindPublish, Code: "ARMED", Message: "may send its statement to " + a.Instance,
			Detail: tokenDetail(hold.Token)})
	})
	if err != nil {
		return fmt.Errorf("arm publish: %w", err)
	}
	return nil
}

// refusedArm says why an arm met no row.
func refusedArm(ctx context.Context, tx pgx.Tx, hold Hold) error {
	run, a, err := lockPublish(ctx, tx, hold)
	if err != nil {
		return err
	}
	if a.Armed {
		return run.stale("the publish is armed already")
	}
	return fmt.Errorf("run %s: %w", run.ID, ErrTimeline)
}

// publishRow is what a decision reads of an attempt. The row changes only under the lock of its run.
type publishRow struct {
	Attempt int
	Armed   bool
	Ended   bool
	Fenced  bool
	Verdict Verdict
}

// lockPublish locks a run that is PUBLISHING under the token.
func lockPublish(ctx context.Context, tx pgx.Tx, hold Hold) (locked, publishRow, error) {
	return lockAttempt(ctx, tx, hold, Publishing)
}

// lockAttempt locks a run that is in a state and whose current attempt to publish has the token. State and token
// together: a word about one attempt never decides about the next.
func lockAttempt(ctx context.Context, tx pgx.Tx, hold Hold, state State) (locked, publishRow, error) {
	run, err := lock(ctx, tx, hold.Run)
	if err != nil {
		return run, publishRow{}, err
	}
	if run.State != state || run.PublishToken == nil || *run.PublishToken != hold.Token {
		return run, publishRow{}, run.stale("the publish is not this token's")
	}
	a, found, err := one[publishRow](ctx, tx, "publish_get", args{"run": hold.Run, "token": hold.Token})
	if err == nil && !found {
		err = fmt.Errorf("publish of run %s: %w", hold.Run, ErrNoRun)
	}
	return run, a, err
}

// Sent is what is known of a statement that was sent. Empty fields leave what is recorded.
type Sent struct {
	Operation json.RawMessage
	QueryID   string
	Progress  json.RawMessage
}

// PublishProgress records the statement's handle, query id and progress. It guards that the publish is this token's
// and armed.
func (l *Ledger) PublishProgress(ctx context.Context, hold Hold, s Sent) error {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, a, err := lockPublish(ctx, tx, hold)
		if err != nil {
			return err
		}
		if !a.Armed {
			return run.stale("the publish is not armed")
		}
		_, err = exec(ctx, tx, "publish_progress", args{"token": hold.Token, "operation": nullJSON(s.Operation), "query_id": nullText(s.QueryID),
			"progress": nullJSON(s.Progress)})
		return err
	})
	if err != nil {
		return fmt.Errorf("record publish progress: %w", err)
	}
	return nil
}

// What a failed publish did to the target.
const (
	TargetUnchanged  = "unchanged"
	TargetDamaged    = "damaged"
	TargetUnverified = "unverified"
)

// Result is how a publish ended.
type Result struct {
	Event       Event  // EventPublished, EventPublishFailed, EventPublishUnknown or EventNotArmed
	Target      string // of EventPublishFailed: TargetUnchanged, TargetDamaged or TargetUnverified
	RowsWritten *int64 // of EventPublished, as the warehouse says
	After       json.RawMessage
	Retry       time.Duration // of EventNotArmed: how long until it is tried again
	Class       string
	Message     string
	Detail      json.RawMessage // for the history; After if empty
	By          string          // who decided; the ledger's By if empty
}

// outcomes are the words of load_publish.outcome.
func (r Result) outcome() (string, error) {
	switch r.Event {
	case EventPublished:
		return "published", nil
	case EventPublishFailed:
		return "failed", nil
	case EventPublishUnknown:
		return "unknown", nil
	case EventNotArmed:
		return "not_armed", nil
	}
	return "", invalid("publish result: event %q", r.Event)
}

// PublishResult ends an attempt to publish; an unknown outcome alerts. It guards: the publish is this token's; PUBLISHED
// and FAILED_PUBLISH only if armed, back to STAGING_VALIDATED (with a new dispatch) only if not; while the run's target
// is damaged no failure says unchanged; nothing moves while the ledger's timeline is not compared. A repeat is answered
// as recorded.
func (l *Ledger) PublishResult(ctx context.Context, hold Hold, r Result) (Run, error) {
	if _, err := r.outcome(); err != nil {
		return Run{}, err
	}
	if r.Event == EventPublishFailed && r.Target == "" {
		return Run{}, invalid("publish result: a failure must say what became of the target")
	}
	err := l.decide(ctx, func(tx pgx.Tx) error {
		if _, err := lock(ctx, tx, hold.Run); err != nil {
			return err
		}
		if _, done, err := repeated(ctx, tx, hold.Run, hold.Token, r.Event); err != nil || done {
			return err
		}
		run, a, err := lockPublish(ctx, tx, hold)
		if err != nil {
			return err
		}
		return l.endPublish(ctx, tx, run, a, hold, r)
	})
	if err != nil {
		return Run{}, fmt.Errorf("record publish result: %w", err)
	}
	return l.Run(ctx, hold.Run)
}

// endPublish ends the current attempt of a run that is PUBLISHING and moves the run.
func (l *Ledger) endPublish(ctx context.Context, tx pgx.Tx, run locked, a publishRow, hold Hold, r Result) error {
	outcome, err := r.outcome()
	switch {
	case err != nil:
		return err
	case a.Armed && r.Event == EventNotArmed:
		return run.stale("the publish is armed, so its statement may have been sent")
	case !a.Armed && (r.Event == EventPublished || r.Event == EventPublishFailed):
		return run.stale("the publish is not armed, so nothing was sent")
	}
	detail := r.Detail
	if len(detail) == 0 {
		detail = r.After
	}
	target := ""
	if r.Event == EventPublishFailed {
		target = r.Target
		if run.TargetDamaged {
			target = TargetDamaged
		}
	}
	err = execOne(ctx, tx, "publish_end", args{"token": hold.Token, "outcome": outcome, "rows": r.RowsWritten, "after": nullJSON(r.After)})
	if err != nil {
		return err
	}
	if r.Event == EventPublishUnknown {
		if err := l.event(ctx, tx, Entry{Run: hold.Run, Kind: KindAlert, Code: CodePublishUnknown, Message: r.Message, Detail: tokenDetail(hold.Token)}); err != nil {
			return err
		}
	}
	next, err := l.advance(ctx, tx, run, move{event: r.Event, by: r.By, token: hold.Token, class: r.Class, message: r.Message, detail: detail, outcome: target})
	if err != nil || r.Event != EventNotArmed {
		return err
	}
	_, err = exec(ctx, tx, "dispatch_delay", args{"run": hold.Run, "seq": next.Seq, "after": r.Retry})
	return err
}

// Attempts are the run's attempts to publish, in order.
func (l *Ledger) Attempts(ctx context.Context, run uuid.UUID) ([]Attempt, error) {
	attempts, err := many[Attempt](ctx, l.pool, "publish_list", args{"run": run})
	if err != nil {
		return nil, fmt.Errorf("read publish attempts: %w", l.connectError(err))
	}
	return attempts, nil
}
