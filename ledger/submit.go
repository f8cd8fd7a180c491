package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// NewRunID makes the id of a run: a UUIDv7, made by whoever submits, so that a submit whose answer was lost can be
// repeated or read again.
func NewRunID() (uuid.UUID, error) { return uuid.NewV7() }

// NewToken makes a token: what one claim of a partition, a step or a session is known by.
func NewToken() uuid.UUID { return uuid.New() }

// RunRequest asks for a run.
type RunRequest struct {
	ID          uuid.UUID
	Job         string
	Key         string          // the business key, nearly always a date
	TargetID    string          // canonical name of what is overwritten; one active run a target
	Source      string          // name of the source whose sessions are limited
	MaxSessions int             // on Source, over all processes
	MaxAttempts int             // of a partition, before the run fails
	MaxWorkers  int             // partitions read at once, over all processes; 0: as many as there are sessions
	AttemptRoot string          // a clean path in the store; attempts are written to <AttemptRoot>/<partition>-<token>/
	Spec        json.RawMessage // the resolved job, secrets as references; steps read only this
	Digest      string          // of Spec
	Options     json.RawMessage // what the caller asked for beyond the job; {} if empty
	Timeout     time.Duration   // counted from the submit
	By          string          // who asks: user@host; the ledger's own By if empty
}

func (r RunRequest) check() error {
	switch {
	case r.ID.Version() != 7:
		return invalid("submit run: id %s is not a UUIDv7", r.ID)
	case r.Job == "" || r.Key == "" || r.TargetID == "" || r.Source == "" || r.Digest == "":
		return invalid("submit run: job, key, target, source and digest are required")
	case r.MaxSessions < 1 || r.MaxAttempts < 1 || r.MaxWorkers < 0 || r.Timeout <= 0:
		return invalid("submit run: max sessions, max attempts and timeout must be positive, max workers not negative")
	case !cleanPath(r.AttemptRoot):
		return invalid("submit run: attempt root %q is not a clean path", r.AttemptRoot)
	case !json.Valid(r.Spec):
		return invalid("submit run: the job is not JSON")
	}
	return nil
}

// cleanPath says whether p names one place below a root, or an absolute one, and in one way only.
func cleanPath(p string) bool {
	return p != "" && path.Clean(p) == p && p != "." && p != "/" && p != ".." && !strings.HasPrefix(p, "../")
}

// submitRounds bounds how often a submit that lost against a run which then ended tries again.
const submitRounds = 8

// errAgain says that what stood in the way is gone.
var errAgain = errors.New("what stood in the way is gone")

// Submit makes a run in CREATED and calls for its plan. It guards: one active run of a (job, key), else
// *DuplicateError; one active run of a target, else *TargetBusyError; the first one is untouched. A repeat with the
// same id returns the run that is there.
func (l *Ledger) Submit(ctx context.Context, req RunRequest) (Run, error) {
	if err := req.check(); err != nil {
		return Run{}, err
	}
	if req.By == "" {
		req.By = l.cfg.By
	}
	for range submitRounds {
		err := l.decide(ctx, func(tx pgx.Tx) error { return submit(ctx, tx, req) })
		if err == nil {
			return l.Run(ctx, req.ID)
		}
		if !errors.Is(err, errAgain) {
			return Run{}, fmt.Errorf("submit run of %s/%s: %w", req.Job, req.Key, err)
		}
	}
	return Run{}, fmt.Errorf("submit run of %s/%s: others were faster %d times", req.Job, req.Key, submitRounds)
}

func submit(ctx context.Context, tx pgx.Tx, req RunRequest) error {
	n, err := exec(ctx, tx, "run_submit", args{
		"id": req.ID, "job": req.Job, "key": req.Key, "target": req.TargetID, "source": req.Source,
		"max_sessions": req.MaxSessions, "max_attempts": req.MaxAttempts, "max_workers": req.MaxWorkers, "attempt_root": req.AttemptRoot,
		"spec": string(req.Spec), "digest": req.Digest, "options": orEmptyObject(req.Options), "by": req.By,
		"timeout": req.Timeout, "state": Created, "event": EventSubmit,
	})
	if err != nil {
		return err
	}
	if n == 0 {
		return inTheWay(ctx, tx, req)
	}
	row, _ := Lookup(Created)
	if _, err := exec(ctx, tx, "dispatch_insert", args{"run": req.ID, "seq": 0, "kind": row.Calls}); err != nil {
		return err
	}
	return notify(ctx, tx, req.ID)
}

// inTheWay says which run kept the insert from happening. A statement of its own: it sees what the insert waited for.
func inTheWay(ctx context.Context, tx pgx.Tx, req RunRequest) error {
	type blocker struct {
		ID     uuid.UUID
		Job    string
		Key    string
		Number int
		State  State
		Since  time.Time
		By     string
		Digest string
	}
	b, found, err := one[blocker](ctx, tx, "run_blocker", args{"id": req.ID, "job": req.Job, "key": req.Key, "target": req.TargetID})
	if err != nil {
		return err
	}
	first := Active{ID: b.ID, Job: b.Job, Key: b.Key, Number: b.Number, State: b.State, Since: b.Since, By: b.By}
	same := b.Job == req.Job && b.Key == req.Key
	switch {
	case !found:
		return errAgain
	case b.ID == req.ID && same && b.Digest == req.Digest:
		return nil
	case b.ID == req.ID:
		return fmt.Errorf("run id %s is taken by %s: %w", req.ID, first.Handle(), ErrConflict)
	case same:
		return &DuplicateError{First: first}
	}
	return &TargetBusyError{Target: req.TargetID, First: first}
}

func orEmptyObject(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "{}"
	}
	return string(raw)
}
