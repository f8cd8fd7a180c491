package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/stage"
)

// FoundMark is a mark that lies in the store.
type FoundMark struct {
	Mark
	Path string
}

// marks reads every publish mark of a job: of runs that the ledger knows and of those that it does not.
func (e *Env) marks(ctx context.Context, job string) ([]FoundMark, error) {
	runs, err := e.Store.List(ctx, job)
	if errors.Is(err, stage.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []FoundMark
	for _, dir := range runs {
		if !dir.Dir || !strings.HasPrefix(path.Base(dir.Path), "run_id=") {
			continue
		}
		found, err := e.marksOf(ctx, job, strings.TrimPrefix(path.Base(dir.Path), "run_id="), dir.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// marksOf reads the marks of one run's directory, in the order of their attempts.
func (e *Env) marksOf(ctx context.Context, job, run, dir string) ([]FoundMark, error) {
	l, err := stage.NewLayout(stage.Owner{Ledger: e.Ledger.ID().String(), Run: run, Job: job})
	if err != nil {
		return nil, nil // not a name that we give: somebody else's directory
	}
	files, err := e.Store.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	var out []FoundMark
	for _, f := range files {
		n, ok := stage.MarkNumber(path.Base(f.Path))
		if !ok {
			continue
		}
		m, err := ReadMark(ctx, e.Store, l, n)
		if errors.Is(err, errTorn) {
			continue // its attempt never armed
		}
		if err != nil {
			return nil, err
		}
		out = append(out, FoundMark{m, f.Path})
	}
	return out, nil
}

// LostTail is what a comparison of the ledger with the marks found.
type LostTail struct {
	From, To string      // timelines; equal: there was nothing to compare
	Marks    int         // all that were looked at
	Adopted  []FoundMark // of runs that go to PUBLISH_UNKNOWN because of them
	Unknown  []FoundMark // of runs that the ledger does not know
}

// CompareLedger does what a ledger needs that may have lost its last transactions (a standby was promoted, a backup
// restored): it reads the marks of every job, closes the session in each one that is newer than the ledger, waits for
// Settle, and lets go what waited for that. A run so met goes to PUBLISH_UNKNOWN under its newest mark; nothing is
// published again and nothing is deleted. With nothing to compare it does nothing.
func (e *Env) CompareLedger(ctx context.Context, o ReconcileOptions) (LostTail, error) {
	t, err := e.Ledger.Timelines(ctx)
	if err != nil {
		return LostTail{}, err
	}
	found := LostTail{From: t.Compared, To: t.Current}
	if t.Same() {
		return found, nil
	}
	jobs, err := e.Store.List(ctx, ".")
	if err != nil && !errors.Is(err, stage.ErrNotExist) {
		return found, err
	}
	for _, job := range jobs {
		if !job.Dir || strings.HasPrefix(path.Base(job.Path), ".") {
			continue
		}
		if err := e.compareJob(ctx, path.Base(job.Path), o, &found); err != nil {
			return found, err
		}
	}
	if len(found.Adopted)+len(found.Unknown) > 0 {
		if err := sleep(ctx, o.Settle); err != nil {
			return found, err
		}
	}
	return found, e.Ledger.Compared(ctx, t.Current, asJSON(map[string]any{
		"marks": found.Marks, "adopted": len(found.Adopted), "unknown": len(found.Unknown), "by": o.By,
	}))
}

// compareJob compares the marks of one job with the ledger. Of each run the newest is told, once every session that the
// ledger does not know of is closed.
func (e *Env) compareJob(ctx context.Context, job string, o ReconcileOptions, found *LostTail) error {
	marks, err := e.marks(ctx, job)
	if err != nil {
		return err
	}
	found.Marks += len(marks)
	newest := map[string]FoundMark{}
	for _, m := range marks {
		if known, ok := newest[m.Run]; !ok || m.Attempt > known.Attempt {
			newest[m.Run] = m
		}
		if err := e.fenceMark(ctx, m, o); err != nil {
			return fmt.Errorf("compare mark %s with the ledger: %w", m.Path, err)
		}
	}
	for _, m := range newest {
		if err := e.compareMark(ctx, m, found); err != nil {
			return fmt.Errorf("compare mark %s with the ledger: %w", m.Path, err)
		}
	}
	return nil
}

// fenceMark closes the session of a mark that is newer than the ledger, whatever state its run is in: it may be over for
// a ledger that has forgotten that its publisher armed. An attempt that the ledger knows as armed by itself is its own
// business, and one that it calls never armed may have armed. One that it knows by its mark is closed again, for the
// comparison may have been broken off.
func (e *Env) fenceMark(ctx context.Context, m FoundMark, o ReconcileOptions) error {
	run, err := uuid.Parse(m.Run)
	if err != nil {
		return err
	}
	attempts, err := e.Ledger.Attempts(ctx, run)
	if err != nil && !errors.Is(err, ledger.ErrNoRun) {
		return err
	}
	for _, a := range attempts {
		if a.Token.String() == m.Token && a.ArmedAt != nil && (a.Mark == nil || a.FencedAt != nil) {
			return nil
		}
	}
	if err := e.Warehouse.Fence(ctx, m.Handle); err != nil && !o.InstanceDead {
		return fmt.Errorf("a statement of run %s may still be under way: %w", m.Run, err)
	}
	return nil
}

// compareMark tells the ledger of a mark.
func (e *Env) compareMark(ctx context.Context, m FoundMark, found *LostTail) error {
	adopted, err := e.tellMark(ctx, m)
	switch {
	case errors.Is(err, ledger.ErrNoRun):
		found.Unknown = append(found.Unknown, m)
	case err != nil:
		return err
	case adopted:
		found.Adopted = append(found.Adopted, m)
	}
	return nil
}

func (e *Env) tellMark(ctx context.Context, m FoundMark) (adopted bool, err error) {
	run, err := uuid.Parse(m.Run)
	if err != nil {
		return false, err
	}
	token, err := uuid.Parse(m.Token)
	if err != nil {
		return false, err
	}
	return e.Ledger.MarkFound(ctx, ledger.Mark{
		Run: run, Attempt: m.Attempt, Token: token, Damaged: m.TargetDamaged,
		Arming: ledger.Arming{Evidence: asJSON(m.Before), Session: asJSON(m.Handle), Instance: m.Handle.Instance, Tag: m.Tag},
	})
}

// adoptMark takes in the newest mark of a run that met one of another attempt where its own should be, and stopped. Any
// other run is left as it is.
func (e *Env) adoptMark(ctx context.Context, run ledger.Run) (ledger.Run, error) {
	if run.State != ledger.PublishUnknown {
		return run, nil
	}
	attempts, err := e.Ledger.Attempts(ctx, run.ID)
	if err != nil {
		return run, err
	}
	for _, a := range attempts {
		if a.Token == run.PublishToken && a.ArmedAt != nil {
			return run, nil
		}
	}
	l, err := e.Layout(run)
	if err != nil {
		return run, err
	}
	marks, err := e.marksOf(ctx, run.Job, run.ID.String(), l.RunDir())
	if err != nil || len(marks) == 0 {
		return run, err
	}
	newest := slices.MaxFunc(marks, func(a, b FoundMark) int { return cmp.Compare(a.Attempt, b.Attempt) })
	if _, err := e.tellMark(ctx, newest); err != nil {
		return run, err
	}
	return e.Ledger.Run(ctx, run.ID)
}
