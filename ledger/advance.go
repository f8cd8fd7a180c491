package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// move is one state change of a run and what is told of it.
type move struct {
	event   Event
	by      string
	token   uuid.UUID // whose decision it is; what makes a repeated call find its first answer
	class   string
	message string
	detail  json.RawMessage
	outcome string // of FAILED_PUBLISH
	keep    int64  // a dispatch that stays open: the one being acknowledged
	ungated bool   // by the comparison of timelines itself, which the gate waits for
}

// advance is the only writer of a run's state. In the transaction that holds the run's row it moves the run, closes and
// appends its history, ends the dispatches that served the old state, inserts the one that the new state calls for,
// and, if the run is over, voids its open partitions.
func (l *Ledger) advance(ctx context.Context, tx pgx.Tx, run locked, m move) (locked, error) {
	to, err := Next(run.State, m.event)
	if err != nil {
		return run, err
	}
	if m.by == "" {
		m.by = l.cfg.By
	}
	next, err := l.step(ctx, tx, run, to, m)
	if err != nil {
		return run, err
	}
	if _, err := exec(ctx, tx, "dispatch_end", args{"run": run.ID, "keep": m.keep, "token": nullUUID(m.token)}); err != nil {
		return run, err
	}
	row, _ := Lookup(to)
	if row.Calls != "" {
		if _, err := exec(ctx, tx, "dispatch_insert", args{"run": run.ID, "seq": next.Seq, "kind": row.Calls}); err != nil {
			return run, err
		}
	}
	if row.Terminal() {
		if err := voidOpen(ctx, tx, run.ID); err != nil {
			return run, err
		}
	}
	return next, notify(ctx, tx, run.ID)
}

// step is the one statement that updates the run, closes the tip of its history and appends to it.
func (l *Ledger) step(ctx context.Context, tx pgx.Tx, run locked, to State, m move) (locked, error) {
	n, err := exec(ctx, tx, "run_advance", args{
		"run": run.ID, "from": run.State, "seq": run.Seq, "event": m.event, "to": to, "by": m.by, "token": nullUUID(m.token),
		"class": nullText(m.class), "message": nullText(m.message), "detail": nullJSON(m.detail), "outcome": nullText(m.outcome), "ungated": m.ungated,
	})
	if err != nil {
		return run, err
	}
	if n == 0 { // the row is locked and was just read, so only the gate can have refused
		return run, fmt.Errorf("run %s in %s: %w", run.ID, run.State, ErrTimeline)
	}
	run.State, run.Seq = to, run.Seq+1
	run.StepDispatch, run.StepToken, run.StepLive = nil, nil, false
	return run, nil
}

// voidOpen ends the partitions of a run that is over. Two statements: chunks are read after their partitions are locked.
func voidOpen(ctx context.Context, tx pgx.Tx, run uuid.UUID) error {
	if _, err := exec(ctx, tx, "partition_void_open", args{"run": run}); err != nil {
		return err
	}
	_, err := exec(ctx, tx, "file_void_of_void", args{"run": run})
	return err
}

// history is a row of load_history that a repeated call looks for.
type history struct {
	Event   Event
	ToState State
	Class   string
	Message string
	Detail  json.RawMessage
}

// repeated finds the state change that a decision of this token has already made by one of these events: the caller's
// first call was committed and its answer was lost.
func repeated(ctx context.Context, tx pgx.Tx, run, token uuid.UUID, events ...Event) (history, bool, error) {
	if token == uuid.Nil {
		return history{}, false, nil
	}
	return one[history](ctx, tx, "history_by_token", args{"run": run, "token": token, "events": events})
}

func notify(ctx context.Context, tx pgx.Tx, run uuid.UUID) error {
	_, err := exec(ctx, tx, "notify", args{"run": run.String()})
	return err
}

func nullUUID(u uuid.UUID) *uuid.UUID {
	if u == uuid.Nil {
		return nil
	}
	return &u
}

func nullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func nullJSON(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	return string(raw)
}
