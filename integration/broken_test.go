package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim/wire"
	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// wantFailed checks that a run ended where it should, with both values in its message.
func wantFailed(t *testing.T, run ledger.Run, state ledger.State, texts ...string) {
	t.Helper()
	if run.State != state {
		t.Fatalf("run is %s (%s), want %s", run.State, run.Message, state)
	}
	for _, text := range texts {
		if !strings.Contains(run.Message, text) {
			t.Errorf("message %q does not tell %q", run.Message, text)
		}
	}
	if run.Class == "" {
		t.Error("the failure has no class")
	}
}

// chunks lists the chunks of a run's attempts, or of its sealed directory.
func chunks(ctx context.Context, s stage.Store, dir string) ([]stage.Info, error) {
	entries, err := s.List(ctx, dir)
	if err != nil {
		return nil, err
	}
	var out []stage.Info
	for _, e := range entries {
		switch {
		case e.Dir:
			more, err := chunks(ctx, s, e.Path)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		case strings.HasSuffix(e.Path, ".parquet"):
			out = append(out, e)
		}
	}
	return out, nil
}

// TestChunkFileLost: somebody removes a chunk's file behind the ledger's back, before the run is sealed.
func TestChunkFileLost(t *testing.T) {
	inEach(t, func(t *testing.T, w *scenario.World) {
		env := newEnv(t, w)
		var lost stage.Info
		// The run's own directory is made when sealing has looked and begins to move.
		env.Store = &meddler{Store: env.Store, op: "rename", path: scenario.Job + "/run_id=", meddle: func(s stage.Store) error {
			all, err := chunks(t.Context(), s, scenario.Job+"/.attempts")
			if err != nil {
				return err
			}
			lost = all[0]
			return s.Remove(t.Context(), lost.Path)
		}}
		run := runJob(t, env, w.Job(), pipeline.Submission{})
		wantFailed(t, run, ledger.FailedStageValidation, path.Base(lost.Path), fmt.Sprint(lost.Size))
		wantNoTarget(t, w)
	})
}

// TestStagedValueChanged: somebody swaps two values of a staged file, so that its length, its rows and every sum stay.
func TestStagedValueChanged(t *testing.T) {
	inEach(t, func(t *testing.T, w *scenario.World) {
		env := newEnv(t, w)
		var changed string
		env.Store = &meddler{Store: env.Store, op: "open", path: scenario.Job + "/run_id=", meddle: func(s stage.Store) (err error) {
			changed, err = swapTwoValues(t.Context(), s, w)
			return err
		}}
		run := runJob(t, env, w.Job(), pipeline.Submission{})
		wantFailed(t, run, ledger.FailedStageValidation, path.Base(changed), "values changed places between rows")
		wantNoTarget(t, w)
	})
}

// swapTwoValues rewrites one sealed chunk with the AMOUNT of two rows exchanged, in a file of the very same length.
func swapTwoValues(ctx context.Context, s stage.Store, w *scenario.World) (string, error) {
	all, err := chunks(ctx, s, scenario.Job)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		for row := range 500 {
			content, err := rewritten(ctx, s, c, func(b *extract.Batch) {
				v := &b.Cols[2]
				v.Int[row], v.Int[row+1] = v.Int[row+1], v.Int[row]
			})
			if err != nil {
				return "", err
			}
			if int64(len(content)) == c.Size {
				return c.Path, replace(ctx, s, c.Path, content)
			}
		}
	}
	return "", errors.New("no swap of two values keeps the length of a file")
}

// rewritten reads a chunk whole, changes its rows and returns a new file's content.
func rewritten(ctx context.Context, s stage.Store, c stage.Info, change func(*extract.Batch)) (content []byte, err error) {
	f, err := s.Open(ctx, c.Path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	cols := scenario.StagedColumns()
	r, err := parquet.NewReader(f, f.Size(), cols)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var out bytes.Buffer
	to, err := parquet.Format{}.Writer(&out, cols)
	if err != nil {
		return nil, err
	}
	// The batches must be cut as they were, or the pages would be others.
	b := extract.NewBatch(stage.SourceColumns(cols), 2048, 1<<20)
	for first := true; ; first = false {
		err := r.Next(b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if first {
			change(b)
		}
		if err := to.Write(b); err != nil {
			return nil, err
		}
	}
	_, err = to.Close()
	return out.Bytes(), err
}

// replace puts other content under a name.
func replace(ctx context.Context, s stage.Store, name string, content []byte) error {
	if err := s.Remove(ctx, name); err != nil {
		return err
	}
	f, err := s.Create(ctx, name)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.Close()
}

// TestTargetLosesRow: the statement that publishes drops a row.
func TestTargetLosesRow(t *testing.T) {
	inEach(t, func(t *testing.T, w *scenario.World) {
		env := newEnv(t, w)
		env.Warehouse = &otherStatement{Warehouse: env.Warehouse, change: func(ctx context.Context, p publish.Publication) (publish.Publication, error) {
			return withoutOneRow(ctx, w, env.Store, p)
		}}
		run := runJob(t, env, w.Job(), pipeline.Submission{})
		wantFailed(t, run, ledger.FailedTarget, fmt.Sprint(scenario.Rows), fmt.Sprint(scenario.Rows-1))
	})
}

// withoutOneRow makes the publication read a view (or, where there are no views, a copy of the files) that lacks a row.
func withoutOneRow(ctx context.Context, w *scenario.World, s stage.Store, p publish.Publication) (publish.Publication, error) {
	if w.Stack != nil {
		view := p.Staging.Table + "_v"
		_, err := w.Hive(ctx, fmt.Sprintf("CREATE VIEW %s.%s AS SELECT * FROM %s.%s WHERE seq <> 777", p.Staging.Database, view, p.Staging.Database, p.Staging.Table))
		p.Staging.Table = view
		return p, err
	}
	all, err := chunks(ctx, s, scenario.Job)
	if err != nil {
		return p, err
	}
	c := all[0]
	content, err := rewritten(ctx, s, c, func(b *extract.Batch) { b.Truncate(b.Rows - 1) })
	if err != nil {
		return p, err
	}
	return p, replace(ctx, s, c.Path, content)
}

// TestStreamEndsEarly: the server answers as if the rows were over, which go-ora takes for their end without an error.
func TestStreamEndsEarly(t *testing.T) {
	w := newWorld(t, "embedded")
	armed := w.Oracle.Faults().Set(wire.Fault{Kind: wire.FaultEarlyEnd, AtRow: 4321, Match: wire.Match{User: scenario.Reader, SQL: `"SEQ" >= 15001`}})
	got := loadctl(t, w, "run", "--job", scenario.Job, "--date", scenario.Date)
	if armed.Struck() == 0 {
		t.Fatal("the fault did not strike: the test shows nothing")
	}
	if got.code != pipeline.ExitFailed {
		t.Fatalf("run: %s", got)
	}
	run := latest(t, w)
	wantFailed(t, run, ledger.FailedExtract, "15000", "4321")
	wantNoTarget(t, w)
}

// wantNoTarget checks that nothing was published.
func wantNoTarget(t *testing.T, w *scenario.World) {
	t.Helper()
	lines, err := w.TargetLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) != 0 {
		t.Errorf("the target has %d rows, want none", len(lines))
	}
}
