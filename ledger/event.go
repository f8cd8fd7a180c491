package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Kinds of entries in load_event.
const (
	KindNote      = "note"
	KindAlert     = "alert"
	KindPartition = "partition"
	KindPublish   = "publish"
	KindDispatch  = "dispatch"
	KindState     = "state" // a row of load_history, in what Events returns
)

// Codes of what the ledger itself tells.
const (
	CodeDispatchDead   = "DISPATCH_DEAD"   // a step was given up; the detail names the class of its last error
	CodePublishUnknown = "PUBLISH_UNKNOWN" // whether the target changed is not known
	CodeOverdue        = "RUN_OVERDUE"     // past its time limit where a run does not time out
	CodeTargetDamaged  = "TARGET_DAMAGED"  // the target holds a part of what was published
	CodeLedgerMismatch = "LEDGER_MISMATCH" // a mark in the store tells of what the ledger does not know
	CodeResent         = "RESENT"          // a step was made due again by a person; no alert
	CodeCompared       = "TIMELINE_COMPARED"
	CodeCleaned        = "CLEANED"
)

// Entry is something that happened to a run: a state change, or what load_event holds.
type Entry struct {
	ID        int64 // of load_event; 0 for a state change
	Run       uuid.UUID
	Partition *int
	At        time.Time
	Kind      string
	Code      string // of a state change: the event
	From      State  // of a state change
	To        State  // of a state change
	Class     string // of a failed state change, and of an entry whose detail names one
	Message   string
	Detail    json.RawMessage
	By        string
}

// event appends to load_event.
func (l *Ledger) event(ctx context.Context, db querier, e Entry) error {
	by := e.By
	if by == "" {
		by = l.cfg.By
	}
	_, err := exec(ctx, db, "event_insert", args{"run": nullUUID(e.Run), "partition": e.Partition, "kind": e.Kind, "code": e.Code,
		"message": e.Message, "detail": nullJSON(e.Detail), "by": by})
	return err
}

// partitionEvent appends what happened to an attempt, with its token.
func (l *Ledger) partitionEvent(ctx context.Context, tx pgx.Tx, held Held, code, message string) error {
	return l.partitionEventBy(ctx, tx, held, code, message, "")
}

func (l *Ledger) partitionEventBy(ctx context.Context, tx pgx.Tx, held Held, code, message, by string) error {
	return l.event(ctx, tx, Entry{Run: held.Run, Partition: &held.Partition, Kind: KindPartition, Code: code, Message: message,
		Detail: tokenDetail(held.Token), By: by})
}

// tokenDetail is the JSON that names a token.
func tokenDetail(token uuid.UUID) json.RawMessage {
	return json.RawMessage(`{"token": "` + token.String() + `"}`)
}

// Note appends a remark to a run's audit.
func (l *Ledger) Note(ctx context.Context, run uuid.UUID, code, message string, detail json.RawMessage) error {
	return l.tell(ctx, Entry{Run: run, Kind: KindNote, Code: code, Message: message, Detail: detail})
}

// Alert appends what calls for a person. run may be uuid.Nil.
func (l *Ledger) Alert(ctx context.Context, run uuid.UUID, code, message string, detail json.RawMessage) error {
	return l.tell(ctx, Entry{Run: run, Kind: KindAlert, Code: code, Message: message, Detail: detail})
}

func (l *Ledger) tell(ctx context.Context, e Entry) error {
	if err := l.decide(ctx, func(tx pgx.Tx) error { return l.event(ctx, tx, e) }); err != nil {
		return fmt.Errorf("record %s %s: %w", e.Kind, e.Code, err)
	}
	return nil
}

// Events are all entries of a run, state changes among them, in the order of time.
func (l *Ledger) Events(ctx context.Context, run uuid.UUID) ([]Entry, error) {
	entries, err := many[Entry](ctx, l.pool, "event_list", args{"run": run})
	if err != nil {
		return nil, fmt.Errorf("read events: %w", l.connectError(err))
	}
	return entries, nil
}
