package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// RefLatest is the reference to the newest run of all.
const RefLatest = "latest"

// findLimit bounds how many runs an ambiguous reference lists.
const findLimit = 10

// suffix is the end of a run id, at least 4 hexadecimal digits of it.
var suffix = regexp.MustCompile(`^[0-9a-fA-F-]*[0-9a-fA-F]{4}$`)

// Find reads the run that a person means: a full id, the end of one (at least 4 digits), job/key#number, job/key for
// the newest of them, or "latest". The error matches ErrNoRun, or is *AmbiguousError.
func (l *Ledger) Find(ctx context.Context, ref string) (Run, error) {
	runs, err := l.find(ctx, ref)
	switch {
	case err != nil:
		return Run{}, fmt.Errorf("find run %q: %w", ref, l.connectError(err))
	case len(runs) == 0:
		return Run{}, fmt.Errorf("find run %q: %w", ref, ErrNoRun)
	case len(runs) > 1:
		return Run{}, &AmbiguousError{Ref: ref, Runs: runs}
	}
	return runs[0], nil
}

func (l *Ledger) find(ctx context.Context, ref string) ([]Run, error) {
	if id, err := uuid.Parse(ref); err == nil && len(ref) == 36 {
		return l.runs(ctx, []uuid.UUID{id})
	}
	if ref == RefLatest {
		return l.found(ctx, "run_find_latest", args{})
	}
	if job, rest, ok := strings.Cut(ref, "/"); ok {
		key, number, err := splitHandle(rest)
		if err != nil {
			return nil, err
		}
		return l.found(ctx, "run_find_handle", args{"job": job, "key": key, "number": number})
	}
	if !suffix.MatchString(ref) {
		return nil, invalid("want a run id, its last 4 digits or more, job/key#number, job/key or latest")
	}
	return l.found(ctx, "run_find_suffix", args{"suffix": strings.ToLower(ref), "limit": findLimit})
}

// splitHandle parts key#number; without a number, 0 stands for the newest.
func splitHandle(rest string) (key string, number int, err error) {
	key, n, ok := strings.Cut(rest, "#")
	if !ok {
		return key, 0, nil
	}
	number, err = strconv.Atoi(n)
	if err != nil || number < 1 {
		return "", 0, invalid("number %q of a run must be 1 or more", n)
	}
	return key, number, nil
}

// found reads the runs whose ids a statement returns.
func (l *Ledger) found(ctx context.Context, name string, a args) ([]Run, error) {
	rows, err := many[struct{ ID uuid.UUID }](ctx, l.pool, name, a)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return l.runs(ctx, ids)
}

// Filter narrows List. The zero value lists the newest 100 runs.
type Filter struct {
	Job     string
	Key     string
	States  []State // any of them
	Active  bool    // only runs that are not over
	Damaged bool    // only runs whose target is damaged, whatever their state: the alert hangs on the flag
	Since   time.Time
	Limit   int
}

// List reads runs, newest first.
func (l *Ledger) List(ctx context.Context, f Filter) ([]Run, error) {
	if f.Limit <= 0 {
		f.Limit = 100
	}
	runs, err := l.found(ctx, "run_list", args{"job": f.Job, "key": f.Key, "states": f.States, "active": f.Active, "damaged": f.Damaged, "since": f.Since, "limit": f.Limit})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", l.connectError(err))
	}
	return runs, nil
}

// Partition is a partition as it was read. Times that have not come are nil.
type Partition struct {
	Index       int
	Spec        json.RawMessage
	Display     string
	Null        bool   // holds the rows whose split column is NULL
	Expected    *int64 // nil: not counted yet
	State       PartitionState
	Attempts    int
	Token       uuid.UUID // of the attempt that runs or ran last
	Worker      string
	RowsSoFar   int64
	Rows        int64 // of the finish report
	Chunks      int
	Bytes       int64
	NotBefore   *time.Time
	ClaimedAt   *time.Time
	HeartbeatAt *time.Time
	LeaseUntil  *time.Time
	FinishedAt  *time.Time
	EndedAt     *time.Time
	Class       string
	Message     string
}

// Partitions reads the partitions of a run in order.
func (l *Ledger) Partitions(ctx context.Context, run uuid.UUID) ([]Partition, error) {
	ps, err := many[Partition](ctx, l.pool, "partition_list", args{"run": run})
	if err != nil {
		return nil, fmt.Errorf("read partitions: %w", l.connectError(err))
	}
	return ps, nil
}

// Files reads the chunks of a run that count, by partition and index. This list, and nothing else, is what may be sealed.
func (l *Ledger) Files(ctx context.Context, run uuid.UUID) ([]File, error) {
	return l.files(ctx, run, false)
}

// AllFiles reads the chunks of a run, those of lost attempts among them.
func (l *Ledger) AllFiles(ctx context.Context, run uuid.UUID) ([]File, error) {
	return l.files(ctx, run, true)
}

func (l *Ledger) files(ctx context.Context, run uuid.UUID, all bool) ([]File, error) {
	fs, err := many[File](ctx, l.pool, "file_list", args{"run": run, "all": all})
	if err != nil {
		return nil, fmt.Errorf("read files: %w", l.connectError(err))
	}
	return fs, nil
}

// Measured is a stored metric.
type Measured struct {
	Stage     Stage
	Partition int // -1: the whole run
	Column    string
	Name      string
	Value     *string
	At        time.Time
}

// Validations reads the metrics of a run: of each stage and partition those that were measured last.
func (l *Ledger) Validations(ctx context.Context, run uuid.UUID) ([]Measured, error) {
	ms, err := many[Measured](ctx, l.pool, "validation_list", args{"run": run})
	if err != nil {
		return nil, fmt.Errorf("read validations: %w", l.connectError(err))
	}
	return ms, nil
}
