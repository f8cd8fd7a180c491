package integration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/stagetest"
)

// check looks whether a run that is over is right: it succeeded, its target is the source at its SCN and nothing else, its
// sealed directory holds what the ledger lists and nothing else, no publish statement was sent twice under one token, and
// no second one without the word of whoever resolved the first. (The chain of the ledger is looked at for all runs of a
// lane, in the end.)
func (l *lane) check(ctx context.Context, f fault, j *pipeline.Job, run ledger.Run) error {
	switch {
	case run.State == ledger.Success:
		return errors.Join(l.checkTarget(j, run), l.checkSealed(ctx, run), l.checkSent(ctx, run))
	case overrun(run):
		l.broken.Add(1)
		return errors.Join(l.checkPrior(f, j), l.checkSealed(ctx, run), l.checkSent(ctx, run))
	case f.cancel && run.State == ledger.Cancelled:
		if sent := l.sent.of(run.ID.String()); len(sent) > 0 {
			return errors.New("a run that was cancelled had sent its statement")
		}
		return l.checkPrior(f, j)
	}
	return fmt.Errorf("the run is %s, though every fault was one that passes: %s %s", run.State, run.Class, run.Message)
}

// overrun says whether the machine was too busy to renew a lease, so that a statement was broken off before it did anything.
// runCells bounds how often.
func overrun(run ledger.Run) bool {
	return run.State == ledger.FailedPublish && run.Class == "LEASE_LOST" && run.TargetOutcome == ledger.TargetUnchanged
}

// checkPrior looks whether the target is what it was before the run.
func (l *lane) checkPrior(f fault, j *pipeline.Job) error {
	want, err := l.w.TableLines(l.job(priorCell).Target.Table)
	if err != nil {
		return err
	}
	if f.name == makesTarget {
		want = nil
	}
	got, err := l.w.TableLines(j.Target.Table)
	if err != nil {
		return err
	}
	if diff := scenario.Difference(want, got); diff != "" {
		return fmt.Errorf("the target is not what it was before: %s", diff)
	}
	return l.checkTable(j)
}

func (l *lane) checkTarget(j *pipeline.Job, run ledger.Run) error {
	want, err := l.w.Image(run.SCN)
	if err != nil {
		return err
	}
	if len(want) == 0 {
		return errors.New("the image is empty: the comparison shows nothing")
	}
	got, err := l.w.TableLines(j.Target.Table)
	if err != nil {
		return err
	}
	if diff := scenario.Difference(want, got); diff != "" {
		return fmt.Errorf("the target is not the table at SCN %s: %s", run.SCN, diff)
	}
	return l.checkTable(j)
}

// checkTable looks for whatever a publish may have left beside the rows.
func (l *lane) checkTable(j *pipeline.Job) error {
	entries, err := os.ReadDir(l.w.TableDir(j.Target.Table))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "_schema.json" && e.Name() != "load_date="+scenario.Date {
			return fmt.Errorf("the target's table holds a foreign %s", e.Name())
		}
	}
	return nil
}

func (l *lane) checkSealed(ctx context.Context, run ledger.Run) error {
	layout, err := l.env.Layout(run)
	if err != nil {
		return err
	}
	files, err := l.env.Ledger.Files(ctx, run.ID)
	if err != nil {
		return err
	}
	want := map[string]int64{}
	for _, f := range files {
		if !f.Void {
			want[stage.ChunkName(f.Partition, f.Index)] = f.Bytes
		}
	}
	entries, err := l.env.Store.List(ctx, layout.RunDir())
	if err != nil {
		return err
	}
	chunks := 0
	for _, e := range entries {
		name := path.Base(e.Path)
		bytes, known := want[name]
		mark, isMark := stage.MarkNumber(name)
		switch {
		case known && bytes == e.Size:
			chunks++
		case isMark && mark >= 1 && mark <= run.PublishAttempt, name == stage.OwnerFile, name == stage.SuccessFile:
		default:
			return fmt.Errorf("the run's directory holds %s of %d bytes, which the ledger does not list", name, e.Size)
		}
	}
	if chunks != len(want) || chunks == 0 {
		return fmt.Errorf("the run's directory holds %d chunks, the ledger lists %d", chunks, len(want))
	}
	return nil
}

func (l *lane) checkSent(ctx context.Context, run ledger.Run) error {
	attempts, err := l.env.Ledger.Attempts(ctx, run.ID)
	if err != nil {
		return err
	}
	allowed := 1
	for _, a := range attempts {
		if a.ResolvedAs == ledger.AsRepublish {
			allowed++
		}
	}
	counts := l.sent.of(run.ID.String())
	if len(counts) == 0 || len(counts) > allowed || slices.Max(counts) > 1 {
		return fmt.Errorf("publish statements were sent %v times by attempt, want once each, by at most %d attempts of %d", counts, allowed, len(attempts))
	}
	return nil
}

// mustClean cleans what the lane's runs left, each effect of which meets each fault first, and looks that the ledger has
// nothing more to clean.
func (l *lane) mustClean(t *testing.T) {
	t.Helper()
	if l.number == 0 {
		for _, name := range l.cleaningEffects(t) {
			for _, mode := range stagetest.Modes() {
				l.cleanWith(t, fault{effect: name, mode: mode})
			}
		}
	}
	for range 100 {
		runs, err := l.env.Clean(t.Context(), ledger.Retention{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range runs {
			if c.Kept != "" {
				t.Errorf("the files of %s were kept: %s", c.Run.Handle(), c.Kept)
			}
		}
		if len(runs) == 0 {
			return
		}
	}
	t.Error("cleaning comes to no end")
}

// cleaningEffects lists the effects of cleaning one run.
func (l *lane) cleaningEffects(t *testing.T) (first []effect) {
	t.Helper()
	p := l.cleanWith(t, fault{})
	for _, e := range p.effects.all() {
		if e.n == 1 {
			first = append(first, e)
		}
	}
	if len(first) != 4 {
		t.Fatalf("cleaning has the effects %v, want four: unstage, two removals, the ledger's note", first)
	}
	for cell := range 6 { // cleaned are all: each fault needs a run to meet it
		j := l.job(priorCell + 1 + cell)
		if run := runJob(t, l.env, j, pipeline.Submission{}); run.State != ledger.Success {
			t.Fatalf("run is %s: %s", run.State, run.Message)
		}
	}
	return first
}

// cleanWith cleans by a process that meets a fault.
func (l *lane) cleanWith(t *testing.T, f fault) *process {
	t.Helper()
	p, err := l.start(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.end()
	_, err = p.env.Clean(p.ctx, ledger.Retention{})
	switch {
	case f.name == "" && err != nil:
		t.Fatal(err)
	case f.name != "" && !p.effects.didStrike():
		t.Errorf("%s: the fault did not strike: %v", f, err)
	case f.name != "" && err == nil:
		t.Errorf("%s: cleaning told of no error", f)
	}
	return p
}

// ageDrafts makes what dead processes had not finished look as old as it must be to be nobody's.
func ageDrafts(t *testing.T, w *scenario.World) {
	t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	for _, root := range []string{"store", "warehouse"} {
		tmp := filepath.Join(w.Dir, root, ".loadctl-tmp")
		err := filepath.WalkDir(tmp, func(name string, d fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(name, "-closed") {
				return err
			}
			return os.Chtimes(name, old, old)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wantNothingLeft checks that store and warehouse hold nothing of any run but what was published.
func wantNothingLeft(t *testing.T, w *scenario.World) {
	t.Helper()
	for _, root := range []string{"store", "warehouse"} {
		err := filepath.WalkDir(filepath.Join(w.Dir, root), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			published := strings.Contains(name, "lake.db/") // looked at by each cell
			replaced := strings.Contains(name, "-closed")   // kept for readers a while
			if !d.IsDir() && !published && !replaced {
				t.Errorf("left behind: %s", strings.TrimPrefix(name, w.Dir))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}
