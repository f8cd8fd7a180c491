package integration

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// pointing is a warehouse whose target's location is elsewhere than it is.
type pointing struct {
	publish.Warehouse
	at string
}

func (p pointing) Observe(ctx context.Context, t publish.Target) (publish.Evidence, error) {
	e, err := p.Warehouse.Observe(ctx, t)
	e.Location = p.at
	return e, err
}

// dirs says which of a run's two directories are there.
func (b *bench) dirs(t *testing.T, run ledger.Run) (sealed, attempts bool) {
	t.Helper()
	l, err := b.env.Layout(run)
	if err != nil {
		t.Fatal(err)
	}
	there := func(dir string) bool {
		_, err := b.store.Stat(t.Context(), dir)
		if err != nil && !errors.Is(err, stage.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	return there(l.RunDir()), there(l.AttemptsDir())
}

// put writes a small file.
func (b *bench) put(t *testing.T, name string) {
	t.Helper()
	f, err := b.store.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("x")); err != nil {
		t.Fatal(errors.Join(err, f.Abort()))
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// zombie leaves a chunk of a worker that was given up, after its run was sealed.
func (b *bench) zombie(t *testing.T, run ledger.Run) {
	t.Helper()
	l, err := b.env.Layout(run)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := l.AttemptDir(0, uuid.NewString())
	if err != nil {
		t.Fatal(err)
	}
	b.put(t, dir+"/"+stage.ChunkName(0, 0))
}

func (b *bench) wantKept(t *testing.T, what string, runs ...ledger.Run) {
	t.Helper()
	for _, run := range runs {
		if sealed, attempts := b.dirs(t, run); !sealed || !attempts {
			t.Errorf("%s: of %s the sealed directory is there: %v, the attempts: %v, want both", what, run.Handle(), sealed, attempts)
		}
	}
}

// TestCleanTakesOnlyWhatIsOver cleans with no retention at all, beside everything that must stay.
func TestCleanTakesOnlyWhatIsOver(t *testing.T) {
	b := newBench(t)
	over, err := b.env.Ledger.Find(t.Context(), ledger.RefLatest)
	if err != nil {
		t.Fatal(err)
	}
	b.zombie(t, over)
	unknown := b.doubt(t, lost)
	b.zombie(t, unknown)
	stranger := unknown
	stranger.ID = uuid.Must(uuid.NewV7())
	if err := b.putMark(t, stranger, 7, "{}"); err != nil {
		t.Fatal(err)
	}
	l, err := b.env.Layout(over)
	if err != nil {
		t.Fatal(err)
	}
	clean := func(keep ledger.Retention) ([]pipeline.CleanedRun, error) {
		t.Helper()
		return b.env.Clean(t.Context(), keep)
	}

	if got, err := clean(ledger.Retention{Success: time.Hour, Failed: time.Hour}); err != nil || len(got) != 0 {
		t.Errorf("cleaned %v, %v within the retention", got, err)
	}
	b.env.Warehouse = unfenced{b.out}
	if got, err := clean(ledger.Retention{}); !errors.Is(err, publish.ErrUnreachable) || len(got) != 0 {
		t.Errorf("cleaned %v, %v while the warehouse is away", got, err)
	}
	b.wantKept(t, "warehouse away", over, unknown)

	// The metastore names the store in its own way, and the target may lie below the run's directory.
	path := strings.TrimPrefix(b.store.URI(l.RunDir()), "file://")
	for _, at := range []string{b.store.URI(l.RunDir()), "hdfs://nameservice1" + path, "hdfs://10.0.0.1:8020" + path + "/part"} {
		b.env.Warehouse = pointing{b.out, at}
		if got, err := clean(ledger.Retention{}); err != nil || len(got) != 1 || got[0].Kept == "" {
			t.Errorf("cleaned %v, %v although the target is at %s", got, err, at)
		}
		b.wantKept(t, "target at "+at, over, unknown)
	}

	b.env.Warehouse = b.out
	if got, err := clean(ledger.Retention{}); err != nil || len(got) != 1 || got[0].Run.ID != over.ID || got[0].Kept != "" {
		t.Fatalf("cleaned %v, %v, want %s", got, err, over.Handle())
	}
	if sealed, attempts := b.dirs(t, over); sealed || attempts {
		t.Errorf("after cleaning the sealed directory is there: %v, the attempts: %v", sealed, attempts)
	}
	b.wantKept(t, "others were cleaned", unknown)
	if sealed, _ := b.dirs(t, stranger); !sealed {
		t.Error("a directory of a run that the ledger does not know was deleted")
	}
	if got, err := clean(ledger.Retention{}); err != nil || len(got) != 0 {
		t.Errorf("cleaned %v, %v again", got, err)
	}
}

// TestCleanKeepsWhatMends: the sealed files of a run that has damaged its target may be what mends it.
func TestCleanKeepsWhatMends(t *testing.T) {
	b := newBench(t)
	run := b.doubt(t, b.half(t))
	reconcile(t, b.env, run, publish.Damaged)
	run = resolve(t, b.env, run, ledger.AsFailed)
	if _, err := b.env.Clean(t.Context(), ledger.Retention{}); err != nil {
		t.Fatal(err)
	}
	b.wantKept(t, "damaged", run)
	next := runJob(t, b.env, b.Job(), pipeline.Submission{})
	wantState(t, next, ledger.Success)
	if _, err := b.env.Clean(t.Context(), ledger.Retention{}); err != nil {
		t.Fatal(err)
	}
	for _, run := range []ledger.Run{run, next} {
		if sealed, attempts := b.dirs(t, run); sealed || attempts {
			t.Errorf("%s is not cleaned after the key's next success", run.Handle())
		}
	}
	wantTarget(t, b.World, next.SCN)
}

// TestCleanGoesOnAfterARun: a directory that is not known to be ours keeps its own run from being cleaned, no other.
func TestCleanGoesOnAfterARun(t *testing.T) {
	b := newBench(t)
	odd, err := b.env.Ledger.Find(t.Context(), ledger.RefLatest)
	if err != nil {
		t.Fatal(err)
	}
	next := runJob(t, b.env, b.Job(), pipeline.Submission{})
	l, err := b.env.Layout(odd)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.store.Remove(t.Context(), l.RunDir()+"/"+stage.OwnerFile); err != nil {
		t.Fatal(err)
	}
	got, err := b.env.Clean(t.Context(), ledger.Retention{})
	if !errors.Is(err, stage.ErrMismatch) || len(got) != 1 || got[0].Run.ID != next.ID {
		t.Errorf("cleaned %v, %v, want %s, and the other refused", got, err, next.Handle())
	}
	if sealed, _ := b.dirs(t, odd); !sealed {
		t.Error("a directory without its owner's file was deleted")
	}
}
