package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// wholeRun stands for no partition in load_validation.
const wholeRun = -1

// errMetricTwice says that a metric of one token was recorded with another value.
var errMetricTwice = errors.New("a metric is recorded with another value")

// record stores metrics under a token. A repeat must bring the same values.
func record(ctx context.Context, tx pgx.Tx, run uuid.UUID, stage Stage, token uuid.UUID, partition int, ms []Metric) error {
	if len(ms) == 0 {
		return nil
	}
	columns, names, values := make([]string, len(ms)), make([]string, len(ms)), make([]*string, len(ms))
	for i, m := range ms {
		columns[i], names[i], values[i] = m.Column, m.Name, m.Value
	}
	a := args{"run": run, "stage": stage, "token": token, "partition": partition, "columns": columns, "metrics": names, "values": values}
	n, err := exec(ctx, tx, "validation_insert", a)
	if err != nil || int(n) == len(ms) {
		return err
	}
	type same struct{ Same int }
	s, _, err := one[same](ctx, tx, "validation_same", a)
	if err == nil && s.Same != len(ms) {
		err = fmt.Errorf("record %s metrics: %w: %w", stage, errMetricTwice, ErrConflict)
	}
	return err
}

// metrics reads what a stage recorded under a token.
func metrics(ctx context.Context, tx pgx.Tx, run uuid.UUID, stage Stage, token uuid.UUID, partition int) ([]Metric, error) {
	return many[Metric](ctx, tx, "validation_get", args{"run": run, "stage": stage, "token": token, "partition": partition})
}

// RecordMetrics stores what a stage measured over the whole run, under the token of the step that measured it, and
// returns where it differs from the stage before: stream has none here (its partitions were compared at their finish),
// sealed and staging are compared with stream, target with staging. It guards that only the owner of the step records.
// The verdict that moves the run is made again from the stored values, by StagingValidated and Verified.
func (l *Ledger) RecordMetrics(ctx context.Context, hold Hold, stage Stage, ms []Metric) ([]Diff, error) {
	want := StageValidating
	switch stage {
	case StageStream, StageSealed, StageStaging:
	case StageTarget:
		want = Published
	default:
		return nil, invalid("record metrics: stage %q is not recorded by a step", stage)
	}
	var diffs []Diff
	err := l.decide(ctx, func(tx pgx.Tx) error {
		run, err := lock(ctx, tx, hold.Run)
		if err != nil {
			return err
		}
		if run.State != want || !run.holds(hold.Token) {
			return run.stale("the step is not this token's")
		}
		if err := record(ctx, tx, hold.Run, stage, hold.Token, wholeRun, ms); err != nil {
			return err
		}
		diffs, err = compareStage(ctx, tx, hold, stage)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("record metrics: %w", err)
	}
	return diffs, nil
}

// compareStage compares a stage's stored metrics with those of the stage before.
func compareStage(ctx context.Context, tx pgx.Tx, hold Hold, stage Stage) ([]Diff, error) {
	upstream, token := StageStream, hold.Token
	switch stage {
	case StageStream:
		return nil, nil
	case StageTarget:
		upstream = StageStaging
		t, err := stagedBy(ctx, tx, hold.Run)
		if err != nil {
			return nil, err
		}
		token = t
	}
	up, err := metrics(ctx, tx, hold.Run, upstream, token, wholeRun)
	if err != nil {
		return nil, err
	}
	down, err := metrics(ctx, tx, hold.Run, stage, hold.Token, wholeRun)
	if err != nil {
		return nil, err
	}
	shared := sharedMetrics(stage)
	return Compare(upstream, stage, only(up, shared), only(down, shared), false), nil
}

// sharedMetrics says which metrics a stage shares with the one before. All of these must be there for every column on both
// sides; what only one of two engines can compute is left out by name, never because it happens to be absent.
func sharedMetrics(stage Stage) func(name string) bool {
	switch stage {
	case StageSealed:
		return func(name string) bool { return name == MetricRows || name == MetricDigest }
	case StageStaging:
		return func(name string) bool { return name != MetricDigest && name != MetricChecksum }
	}
	return func(string) bool { return true }
}

func only(ms []Metric, wanted func(name string) bool) []Metric {
	var out []Metric
	for _, m := range ms {
		if wanted(m.Name) {
			out = append(out, m)
		}
	}
	return out
}

// stagedBy is the token of the step whose staging metrics the run was validated by.
func stagedBy(ctx context.Context, tx pgx.Tx, run uuid.UUID) (uuid.UUID, error) {
	type staged struct{ Token uuid.UUID }
	s, found, err := one[staged](ctx, tx, "staged_token", args{"run": run})
	if err == nil && !found {
		err = fmt.Errorf("run %s was never staged: %w", run, ErrStale)
	}
	return s.Token, err
}

// diffRecord is how differences are kept in the history.
type diffRecord struct {
	Diffs []Diff `json:"diffs"`
}

// diffDetail is the JSON of differences.
func diffDetail(diffs []Diff) json.RawMessage {
	raw, err := json.Marshal(diffRecord{Diffs: diffs})
	if err != nil {
		panic("differences are plain text: " + err.Error())
	}
	return raw
}

// storedMismatch rebuilds the error that was returned when h was recorded.
func storedMismatch(run uuid.UUID, h history) (*MismatchError, error) {
	var d diffRecord
	if err := json.Unmarshal(h.Detail, &d); err != nil {
		return nil, fmt.Errorf("read recorded differences: %w", err)
	}
	return &MismatchError{Run: run, State: h.ToState, Diffs: d.Diffs}, nil
}
