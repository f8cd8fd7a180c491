package ledger

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Sealed records that exactly the run's live chunks lie in dir. It guards that the token owns stage validation.
func (l *Ledger) Sealed(ctx context.Context, hold Hold, dir string) error {
	err := l.decide(ctx, func(tx pgx.Tx) error {
		n, err := exec(ctx, tx, "run_sealed", args{"run": hold.Run, "token": hold.Token, "dir": dir})
		if err != nil || n == 1 {
			return err
		}
		run, err := lock(ctx, tx, hold.Run)
		if err != nil {
			return err
		}
		return run.stale("the step is not this token's")
	})
	if err != nil {
		return fmt.Errorf("record seal: %w", err)
	}
	return nil
}

// StagingValidated ends stage validation by what is stored: STAGE_VALIDATING to STAGING_VALIDATED with the dispatch
// PUBLISH if staging, and sealed where it was measured, equal stream; else FAILED_STAGE_VALIDATION, committed, and
// *MismatchError. It guards that the token owns the step and that the run is sealed. A repeat is answered as recorded.
func (l *Ledger) StagingValidated(ctx context.Context, hold Hold, detail json.RawMessage) (Run, error) {
	return l.judge(ctx, hold, judgement{from: StageValidating, stages: []Stage{StageSealed, StageStaging}, required: StageStaging,
		pass: EventStaged, fail: EventStageFailed, detail: detail})
}

// Verified ends the run by what is stored: PUBLISHED to SUCCESS if the target equals staging; else
// FAILED_TARGET_VALIDATION, committed, and *MismatchError. It guards that the token owns the step. Success mends: no
// run of this job and key is target_damaged after it. A repeat is answered as recorded.
func (l *Ledger) Verified(ctx context.Context, hold Hold, detail json.RawMessage) (Run, error) {
	return l.judge(ctx, hold, judgement{from: Published, stages: []Stage{StageTarget}, required: StageTarget,
		pass: EventVerified, fail: EventTargetFailed, detail: detail})
}

// judgement says which stored metrics decide, and what they lead to.
type judgement struct {
	from       State
	stages     []Stage
	required   Stage // must have been measured; the others count if they were
	pass, fail Event
	detail     json.RawMessage
}

func (l *Ledger) judge(ctx context.Context, hold Hold, j judgement) (Run, error) {
	var verdict *MismatchError
	err := l.decide(ctx, func(tx pgx.Tx) (err error) {
		verdict, err = l.judgeLocked(ctx, tx, hold, j)
		return err
	})
	if err != nil {
		return Run{}, fmt.Errorf("judge metrics: %w", err)
	}
	run, err := l.Run(ctx, hold.Run)
	if err == nil && verdict != nil {
		return run, verdict
	}
	return run, err
}

func (l *Ledger) judgeLocked(ctx context.Context, tx pgx.Tx, hold Hold, j judgement) (*MismatchError, error) {
	run, err := lock(ctx, tx, hold.Run)
	if err != nil {
		return nil, err
	}
	h, done, err := repeated(ctx, tx, hold.Run, hold.Token, j.pass, j.fail)
	if err != nil {
		return nil, err
	}
	if done {
		return storedVerdict(run, h, j)
	}
	if run.State != j.from || !run.holds(hold.Token) {
		return nil, run.stale("the step is not this token's")
	}
	if j.from == StageValidating && !run.Sealed {
		return nil, invalid("the run is not sealed")
	}
	diffs, err := judgeStages(ctx, tx, hold, j)
	if err != nil {
		return nil, err
	}
	if len(diffs) > 0 {
		next, err := l.advance(ctx, tx, run, move{event: j.fail, token: hold.Token, class: classMismatch, message: diffs[0].String(), detail: diffDetail(diffs)})
		return &MismatchError{Run: run.ID, State: next.State, Diffs: diffs}, err
	}
	if j.pass == EventVerified {
		if _, err := exec(ctx, tx, "run_mended", args{"job": run.Job, "key": run.Key}); err != nil {
			return nil, err
		}
	}
	_, err = l.advance(ctx, tx, run, move{event: j.pass, token: hold.Token, detail: j.detail})
	return nil, err
}

// storedVerdict rebuilds the answer that was given when h was recorded.
func storedVerdict(run locked, h history, j judgement) (*MismatchError, error) {
	if h.Event == j.pass {
		return nil, nil
	}
	return storedMismatch(run.ID, h)
}

// judgeStages compares each stage's stored metrics with those before it.
func judgeStages(ctx context.Context, tx pgx.Tx, hold Hold, j judgement) ([]Diff, error) {
	var all []Diff
	for _, stage := range j.stages {
		measured, err := metrics(ctx, tx, hold.Run, stage, hold.Token, wholeRun)
		if err != nil {
			return nil, err
		}
		if len(measured) == 0 && stage != j.required {
			continue
		}
		diffs, err := compareStage(ctx, tx, hold, stage)
		if err != nil {
			return nil, err
		}
		all = append(all, diffs...)
	}
	return all, nil
}
