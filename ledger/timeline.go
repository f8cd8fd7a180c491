package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Timelines says on which history of PostgreSQL's log the ledger is, and which one was last compared with the marks
// in the store. While they differ, the ledger may have lost its last transactions, and nothing leaves a gated state,
// arms or is cleaned.
type Timelines struct {
	Current    string
	Compared   string
	ComparedAt time.Time
}

// Same says whether nothing waits for a comparison.
func (t Timelines) Same() bool { return t.Current == t.Compared }

// Timelines reads which timeline is current and which was compared.
func (l *Ledger) Timelines(ctx context.Context) (Timelines, error) {
	t, _, err := one[Timelines](ctx, l.pool, "timeline_get", nil)
	if err != nil {
		return t, fmt.Errorf("read timelines: %w", l.connectError(err))
	}
	return t, nil
}

// Compared records that the marks of every target concerned were compared with the ledger on this timeline: each session
// in a mark newer than the ledger is closed, publish.settle was waited for, and MarkFound was told of each mark of a run
// that is known. It lets go what waited. It guards that the timeline still is the current one (ErrStale): after another
// fail-over the comparison begins anew. A repeat changes nothing.
func (l *Ledger) Compared(ctx context.Context, timeline string, findings json.RawMessage) error {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		t, _, err := one[Timelines](ctx, tx, "timeline_get", nil)
		if err != nil || t.Same() && t.Current == timeline {
			return err
		}
		n, err := exec(ctx, tx, "timeline_compared", args{"timeline": timeline})
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("timeline %s was compared, the ledger is on %s: %w", timeline, t.Current, ErrStale)
		}
		message := fmt.Sprintf("timeline %s was compared with the marks, after %s", timeline, t.Compared)
		return l.event(ctx, tx, Entry{Kind: KindNote, Code: CodeCompared, Message: message, Detail: findings})
	})
	if err != nil {
		return fmt.Errorf("record comparison of timelines: %w", err)
	}
	return nil
}

// distrusted is the compared timeline of a ledger that is to be compared whatever timeline it is on.
const distrusted = "none"

// Distrust closes the gate by a person's word, until Compared opens it: for a ledger whose data was set back in a way
// that leaves PostgreSQL on the timeline that it was on, such as a snapshot of its disk.
func (l *Ledger) Distrust(ctx context.Context, by, reason string) error {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		if err := execOne(ctx, tx, "timeline_distrust", args{"none": distrusted}); err != nil {
			return err
		}
		return l.event(ctx, tx, Entry{Kind: KindAlert, Code: CodeLedgerMismatch, By: by,
			Message: "the ledger may have lost its last transactions: nothing is published or cleaned until it was compared with the marks: " + reason})
	})
	if err != nil {
		return fmt.Errorf("distrust ledger: %w", err)
	}
	return nil
}

// Mark is what a mark in the store tells of an attempt to publish: the newest one of a run.
type Mark struct {
	Run     uuid.UUID
	Attempt int // n in its name
	Token   uuid.UUID
	Arming         // what its arm stored, or was about to
	Damaged bool   // an earlier attempt of the run had damaged the target
	By      string // who claimed it, if the mark tells
}

// MarkFound compares a mark with the ledger. A mark that is newer than what the ledger knows (a later attempt, another
// token, or an arm that is not recorded) tells of a publish that the ledger has lost: the run goes from STAGING_VALIDATED
// or PUBLISHING to PUBLISH_UNKNOWN, or stays there, under the mark's token, as armed, with the mark's session, evidence
// and damage; an alert says so, once. It is the only way through the gate of timelines, because the gate waits for it.
// A run in any other state stays where it is, with the alert. It says whether the run is now under the mark's token
// because of it. It guards that the mark is newer under the run's lock; a mark that the ledger knows as armed, or older
// than its last attempt, changes nothing, and so does a repeat.
func (l *Ledger) MarkFound(ctx context.Context, m Mark) (adopted bool, err error) {
	if err := m.check(); err != nil {
		return false, err
	}
	err = l.decide(ctx, func(tx pgx.Tx) (err error) {
		adopted, err = l.markFound(ctx, tx, m)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("compare mark %d of run %s: %w", m.Attempt, m.Run, err)
	}
	return adopted, nil
}

func (m Mark) check() error {
	if m.Attempt < 1 || m.Token == uuid.Nil {
		return invalid("compare mark: attempt and token are required")
	}
	return m.Arming.check()
}

func (l *Ledger) markFound(ctx context.Context, tx pgx.Tx, m Mark) (bool, error) {
	run, err := lock(ctx, tx, m.Run)
	if err != nil {
		return false, err
	}
	known, found, err := one[publishRow](ctx, tx, "publish_get", args{"run": m.Run, "token": m.Token})
	if err != nil || found && known.Armed || m.Attempt < run.PublishAttempt {
		return false, err
	}
	if err := l.tellMark(ctx, tx, run, m); err != nil {
		return false, err
	}
	switch run.State {
	case StagingValidated, Publishing, PublishUnknown:
	default:
		return false, nil
	}
	attempt := m.Attempt
	switch {
	case found:
		attempt = known.Attempt
	case m.Attempt == run.PublishAttempt:
		attempt++ // the number is taken by a claim of the ledger's own
	}
	return true, l.adopt(ctx, tx, run, m, attempt)
}

// adopt makes the mark's attempt the run's current one, then moves the run.
func (l *Ledger) adopt(ctx context.Context, tx pgx.Tx, run locked, m Mark, attempt int) error {
	if run.PublishToken != nil && *run.PublishToken != m.Token {
		if _, err := exec(ctx, tx, "publish_end", args{"token": *run.PublishToken, "outcome": "unknown", "rows": nil, "after": nil}); err != nil {
			return err
		}
	}
	err := execOne(ctx, tx, "publish_adopt", args{"run": run.ID, "attempt": attempt, "token": m.Token, "mark": m.Attempt, "by": orUnknown(m.By),
		"evidence": string(m.Evidence), "session": string(m.Session), "instance": m.Instance, "tag": m.Tag})
	if err != nil {
		return err
	}
	if err := execOne(ctx, tx, "run_adopt", args{"run": run.ID, "attempt": attempt, "token": m.Token, "damaged": m.Damaged}); err != nil {
		return err
	}
	event := EventMarkFound
	switch run.State {
	case PublishUnknown:
		return notify(ctx, tx, run.ID)
	case Publishing:
		event = EventPublishUnknown
	}
	message := fmt.Sprintf("mark %d in the store tells of a publish that the ledger has lost", m.Attempt)
	_, err = l.advance(ctx, tx, run, move{event: event, token: m.Token, class: CodeLedgerMismatch, message: message, ungated: true})
	return err
}

// tellMark raises the alert about a mark, once.
func (l *Ledger) tellMark(ctx context.Context, tx pgx.Tx, run locked, m Mark) error {
	type mark struct{ Told bool }
	t, _, err := one[mark](ctx, tx, "mark_told", args{"run": run.ID, "code": CodeLedgerMismatch, "token": m.Token.String()})
	if err != nil || t.Told {
		return err
	}
	detail, err := json.Marshal(map[string]any{"token": m.Token, "attempt": m.Attempt, "instance": m.Instance, "class": CodeLedgerMismatch})
	if err != nil {
		return err
	}
	message := fmt.Sprintf("mark %d in the store tells of a publish that the ledger does not know; the run was %s", m.Attempt, run.State)
	return l.event(ctx, tx, Entry{Run: run.ID, Kind: KindAlert, Code: CodeLedgerMismatch, Message: message, Detail: detail})
}

func orUnknown(by string) string {
	if by == "" {
		return "unknown"
	}
	return by
}
