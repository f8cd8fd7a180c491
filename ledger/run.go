package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Run is a run as it was read. What is not known yet is the zero value.
type Run struct {
	ID          uuid.UUID
	Job         string
	Key         string // the business key
	Number      int    // counts the runs of (Job, Key) from 1
	TargetID    string
	Source      string // whose sessions are limited
	MaxSessions int    // on Source, over all processes
	MaxAttempts int    // of a partition
	AttemptRoot string // the directory that holds the attempts' directories
	Spec        json.RawMessage
	Digest      string // of Spec
	Options     json.RawMessage
	CreatedBy   string // user@host
	CreatedAt   time.Time
	Timeout     time.Duration // counted from CreatedAt

	Seq   int // position in the history
	State State
	Since time.Time // in State

	SCN            string // decimal digits
	SourceIdentity json.RawMessage
	Strategy       string
	PlanDetail     json.RawMessage
	ExpectedRows   int64 // the source's count at the SCN

	Step           Dispatch // what is being done; empty if nobody owns a step
	StepOwner      string
	StepToken      uuid.UUID
	StepLeaseUntil time.Time

	SealedDir      string
	PublishAttempt int
	PublishToken   uuid.UUID
	TargetDamaged  bool       // a publish of this run left the target half changed, and no later run of the key mended it
	TargetOutcome  string     // of FAILED_PUBLISH: unchanged, damaged or unverified
	CleanedAt      *time.Time // when its files were deleted

	Class   string          // of the last state change, if it was a failure
	Message string          // of the last state change
	Detail  json.RawMessage // of the last state change

	Progress
}

// Progress is how far the extraction of a run is. The counts are of attempts that still stand.
type Progress struct {
	Partitions     int
	PartitionsDone int
	RowsDone       int64 // rows of finished partitions and rows so far of running ones
	Chunks         int
	Bytes          int64
	Retries        int // claims beyond the first, over all partitions
}

// Handle is the run's name for people, job/key#number.
func (r Run) Handle() string { return fmt.Sprintf("%s/%s#%d", r.Job, r.Key, r.Number) }

// Short is the run's short id: the last 6 hexadecimal digits. The first ones are the clock.
func (r Run) Short() string { return r.ID.String()[30:] }

// Run reads a run. The error matches ErrNoRun if there is none.
func (l *Ledger) Run(ctx context.Context, id uuid.UUID) (Run, error) {
	runs, err := l.runs(ctx, []uuid.UUID{id})
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("read run %s: %w", id, err)
	case len(runs) == 0:
		return Run{}, fmt.Errorf("read run %s: %w", id, ErrNoRun)
	}
	return runs[0], nil
}

// runs reads runs in the order of ids.
func (l *Ledger) runs(ctx context.Context, ids []uuid.UUID) ([]Run, error) {
	runs, err := many[Run](ctx, l.pool, "run_get", args{"ids": ids})
	return runs, l.connectError(err)
}

// locked is what a decision reads of a run while it holds the run's row.
type locked struct {
	ID             uuid.UUID
	Job            string
	Key            string
	State          State
	Seq            int
	Digest         string
	Source         string
	MaxSessions    int
	MaxAttempts    int
	AttemptRoot    string
	ExpectedRows   *int64
	StepDispatch   *int64
	StepToken      *uuid.UUID
	StepLive       bool // the step's lease has not run out
	PublishAttempt int
	PublishToken   *uuid.UUID
	TargetDamaged  bool
	Sealed         bool
	Cleaned        bool
}

// lock locks the run's row and returns what it says then. All that a decision reads after this is up to date.
func lock(ctx context.Context, tx pgx.Tx, run uuid.UUID) (locked, error) {
	r, found, err := one[locked](ctx, tx, "run_lock", args{"run": run})
	if err != nil {
		return r, err
	}
	if !found {
		return r, fmt.Errorf("run %s: %w", run, ErrNoRun)
	}
	return r, nil
}

// holds says whether token owns the run's step.
func (r locked) holds(token uuid.UUID) bool { return r.StepToken != nil && *r.StepToken == token }

// stale makes the error for a call that expected something else of the run.
func (r locked) stale(why string) error {
	return &StaleError{What: "run", Run: r.ID, State: string(r.State), Why: why}
}
