package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// frozen is a planned run as the ledger carries it: the job and the plan's spec, which never change again.
type frozen struct {
	Spec
	run    ledger.Run
	job    *Job
	layout stage.Layout
}

func (f *frozen) id() string { return f.run.ID.String() }

// thaw reads a planned run.
func (e *Env) thaw(ctx context.Context, id uuid.UUID) (*frozen, error) {
	run, err := e.Ledger.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	f := &frozen{run: run}
	if f.job, err = ParseJob(run.Spec); err != nil {
		return nil, err
	}
	if f.layout, err = e.Layout(run); err != nil {
		return nil, err
	}
	if len(run.PlanDetail) == 0 {
		return nil, fmt.Errorf("run %s has no plan yet: %w", run.Handle(), ledger.ErrStale)
	}
	if err := json.Unmarshal(run.PlanDetail, &f.Spec); err != nil {
		return nil, fmt.Errorf("read the plan of run %s: %w", run.Handle(), err)
	}
	return f, nil
}

// thawHere is thaw for work that moves data: this process must reach the parties that the run was planned on.
func (e *Env) thawHere(ctx context.Context, id uuid.UUID) (*frozen, error) {
	f, err := e.thaw(ctx, id)
	if err != nil {
		return nil, err
	}
	return f, e.check(ctx, f.Identities)
}

// Layout says where the files of a run are.
func (e *Env) Layout(run ledger.Run) (stage.Layout, error) {
	return stage.NewLayout(stage.Owner{Ledger: e.Ledger.ID().String(), Run: run.ID.String(), Job: run.Job})
}

// manifest lists the chunks that make up the run, by the ledger's word.
func (e *Env) manifest(ctx context.Context, f *frozen) (stage.Manifest, error) {
	files, err := e.Ledger.Files(ctx, f.run.ID)
	if err != nil {
		return stage.Manifest{}, err
	}
	o := f.layout.Owner()
	m := stage.Manifest{Ledger: o.Ledger, Run: o.Run, Job: o.Job}
	for _, c := range files {
		if !c.Void {
			m.Chunks = append(m.Chunks, stage.Chunk{Partition: c.Partition, Index: c.Index, Path: c.Path, Rows: c.Rows, Bytes: c.Bytes, Digest: c.Digest})
		}
	}
	return m, nil
}

// staging names the staging table of the run.
func (e *Env) staging(f *frozen) publish.Staging {
	return publish.Staging{
		Database: cmp.Or(f.job.StagingDB, f.Target.Database), Table: publish.StagingTable(f.job.Target.Table, f.id()),
		Location: e.Store.URI(f.layout.RunDir()), Columns: f.Columns,
	}
}

// retryLedger repeats a call that the ledger answers the same way however often it is made, while the ledger is
// away or its answer was lost, until ctx ends.
func (e *Env) retryLedger(ctx context.Context, call func() error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := call()
		if err != nil && !errors.Is(err, ledger.ErrCommitUnknown) && !errors.Is(err, ledger.ErrUnreachable) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(e.Timing.Stale), backoff.WithBackOff(quick()))
	return err
}

// quick is the pace of repeated ledger calls: 50 ms, doubling to 2 s.
func quick() backoff.BackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, 2*time.Second
	return b
}
