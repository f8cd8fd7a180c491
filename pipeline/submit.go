package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Submission is what a caller asks for beyond the job.
type Submission struct {
	SCN string // read at this SCN; "" for the present one
	By  string // who asks: user@host
}

// Preflight looks at everything that a run will need, before there is a run: so a wrong password, a missing table or a
// dependency that is down leaves nothing behind. Every dependency is asked; all faults are reported.
func (e *Env) Preflight(ctx context.Context, job *Job) error {
	var plan Plan
	src, err := e.source(job, "preflight", extract.Identity{})
	if err != nil {
		return err
	}
	described := e.describe(ctx, src, job, &plan)
	if described == nil {
		described = checkSplit(job, &plan)
	}
	return errors.Join(described, e.preflightTarget(ctx, job, plan.Target, described == nil), e.preflightStore(ctx))
}

// checkSplit refuses a split that the plan would refuse.
func checkSplit(job *Job, p *Plan) error {
	if job.Split.Strategy != StrategyRange {
		return nil
	}
	column, ok := p.Query.Table.Column(job.Split.Column)
	if !ok {
		return fmt.Errorf("%w: split column %q is not among the columns read from %s", extract.ErrNoColumn, job.Split.Column, tableText(p.Query.Table.Name))
	}
	_, err := extract.PlanRange(column, extract.Bounds{}, job.Split.Partitions)
	return err
}

func (e *Env) preflightTarget(ctx context.Context, job *Job, t publish.Target, described bool) error {
	if !described { // without the source's columns there is nothing to compare the target with
		if _, err := e.Warehouse.Identity(ctx); err != nil {
			return err
		}
		return nil
	}
	state, err := e.Warehouse.Inspect(ctx, t)
	if err != nil {
		return err
	}
	if !state.Exists && !job.Create {
		return fmt.Errorf("%w: %s.%s; create it, or set target.create: if_missing", publish.ErrNoTarget, t.Database, t.Table)
	}
	return nil
}

func (e *Env) preflightStore(ctx context.Context) error {
	_, err := e.Store.Stat(ctx, ".")
	if errors.Is(err, stage.ErrNotExist) { // made by the first write
		err = nil
	}
	if err != nil {
		return err
	}
	return nil
}

// Submit makes a run of the job, or says which active run is in the way.
func (e *Env) Submit(ctx context.Context, job *Job, s Submission) (ledger.Run, error) {
	id, err := ledger.NewRunID()
	if err != nil {
		return ledger.Run{}, fmt.Errorf("make a run id: %w", err)
	}
	layout, err := stage.NewLayout(stage.Owner{Ledger: e.Ledger.ID().String(), Run: id.String(), Job: job.Name})
	if err != nil {
		return ledger.Run{}, err
	}
	spec := asJSON(job)
	sum := sha256.Sum256(spec)
	req := ledger.RunRequest{
		ID: id, Job: job.Name, Key: job.Key, TargetID: job.TargetID, Source: job.Source, MaxSessions: e.Limits.MaxSessions[job.Source],
		MaxAttempts: job.MaxAttempts, MaxWorkers: job.Workers, AttemptRoot: layout.AttemptsDir(), Spec: spec, Digest: hex.EncodeToString(sum[:]),
		Options: asJSON(Options{SCN: s.SCN}), Timeout: time.Duration(job.RunTimeout), By: s.By,
	}
	var run ledger.Run
	err = e.retryLedger(ctx, func() error { // the same id again is the same run
		run, err = e.Ledger.Submit(ctx, req)
		return err
	})
	return run, err
}
