package stage_test

import (
	"context"
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/local"
	"github.com/loadctl/loadctl/stage/stagetest"
)

var owner = stage.Owner{Ledger: "0198f2aa-ledger", Run: "0198f2ab-run", Job: "INSP_DTL"}

func newLayout(t *testing.T) stage.Layout {
	t.Helper()
	l, err := stage.NewLayout(owner)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newStore(t *testing.T) stage.Store {
	t.Helper()
	s, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s stage.Store, name, content string) {
	t.Helper()
	f, err := s.Create(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s stage.Store, name string) string {
	t.Helper()
	f, err := s.Open(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, f.Size())
	if _, err := f.ReadAt(p, 0); err != nil && f.Size() > 0 {
		t.Fatal(err)
	}
	return string(p)
}

func names(t *testing.T, s stage.Store, dir string) string {
	t.Helper()
	infos, err := s.List(context.Background(), dir)
	if err != nil && !errors.Is(err, stage.ErrNotExist) {
		t.Fatal(err)
	}
	var out []string
	for _, i := range infos {
		out = append(out, path.Base(i.Path))
	}
	return strings.Join(out, " ")
}

// content is what a test's chunk holds: its own name and something.
func content(c stage.Chunk) string { return "rows of " + stage.ChunkName(c.Partition, c.Index) }

// written makes three chunks of two attempts and the file of a zombie beside them.
func written(t *testing.T, s stage.Store, l stage.Layout) stage.Manifest {
	t.Helper()
	m := stage.Manifest{Ledger: owner.Ledger, Run: owner.Run, Job: owner.Job}
	for _, c := range []stage.Chunk{{Partition: 0, Index: 0}, {Partition: 0, Index: 1}, {Partition: 7, Index: 0}} {
		dir, err := l.AttemptDir(c.Partition, "winner")
		if err != nil {
			t.Fatal(err)
		}
		c.Path = path.Join(dir, stage.ChunkName(c.Partition, c.Index))
		c.Rows, c.Bytes = 1, int64(len(content(c)))
		put(t, s, c.Path, content(c))
		m.Chunks = append(m.Chunks, c)
	}
	zombie, err := l.AttemptDir(7, "zombie")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, path.Join(zombie, stage.ChunkName(7, 0)), "a zombie's")
	return m
}

const sealedNames = "_SUCCESS _loadctl.json part-00000-00000.parquet part-00000-00001.parquet part-00007-00000.parquet"

func checkSealed(t *testing.T, s stage.Store, l stage.Layout, m stage.Manifest) {
	t.Helper()
	if got := names(t, s, l.RunDir()); got != sealedNames {
		t.Fatalf("sealed directory holds %s, want %s", got, sealedNames)
	}
	for _, c := range m.Chunks {
		if got := get(t, s, l.Sealed(c)); got != content(c) {
			t.Errorf("%s holds %q, want %q", l.Sealed(c), got, content(c))
		}
	}
	if err := stage.CheckSealed(context.Background(), s, l, m); err != nil {
		t.Error(err)
	}
}

func TestSealCrashMatrix(t *testing.T) {
	l := newLayout(t)
	var m stage.Manifest
	stagetest.Matrix(t, stagetest.Step{
		Prepare: func(t *testing.T) stage.Store {
			s := newStore(t)
			m = written(t, s, l)
			return s
		},
		Do: func(s stage.Store) error { return stage.Seal(context.Background(), s, l, m) },
		Between: func(t *testing.T, s stage.Store) {
			if strings.Contains(names(t, s, l.RunDir()), stage.SuccessFile) {
				checkSealed(t, s, l, m)
			} else if err := stage.CheckSealed(context.Background(), s, l, m); err == nil {
				t.Error("not sealed, but CheckSealed says so")
			}
			if got := names(t, s, l.RunDir()); got != "" && !strings.Contains(got, stage.OwnerFile) {
				t.Errorf("run directory holds %s without %s", got, stage.OwnerFile)
			}
		},
		After: func(t *testing.T, s stage.Store) { checkSealed(t, s, l, m) },
	})
}

func TestSealRefuses(t *testing.T) {
	l := newLayout(t)
	other := owner
	other.Ledger = "0198f2ac-restored"
	for _, tc := range []struct {
		name  string
		spoil func(t *testing.T, s stage.Store, m *stage.Manifest)
		want  []string
	}{
		{"chunk missing", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			remove(t, s, m.Chunks[1].Path)
		}, []string{m1, "32 bytes by the ledger", "missing"}},
		{"chunk shorter", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			remove(t, s, m.Chunks[1].Path)
			put(t, s, m.Chunks[1].Path, "short")
		}, []string{m1, "has 5 bytes", "32 by the ledger"}},
		{"sealed chunk of another length", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			remove(t, s, m.Chunks[1].Path)
			put(t, s, l.Sealed(m.Chunks[1]), "short")
		}, []string{l.RunDir() + "/part-00000-00001.parquet has 5 bytes", "32 by the ledger"}},
		{"chunk in both places", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			put(t, s, l.Sealed(m.Chunks[1]), content(m.Chunks[1]))
		}, []string{m1, "(32 bytes)", "too"}},
		{"extra file", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			put(t, s, l.RunDir()+"/part-00099-00000.parquet", "foreign")
		}, []string{l.RunDir() + "/part-00099-00000.parquet (7 bytes) is not in the ledger"}},
		{"directory of another ledger", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			put(t, s, l.RunDir()+"/_loadctl.json", `{"ledger":"0198f2ac-restored","run":"0198f2ab-run","job":"INSP_DTL"}`)
		}, []string{other.String(), owner.String()}},
		{"damaged owner file", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			put(t, s, l.RunDir()+"/_loadctl.json", "{")
		}, []string{l.RunDir() + "/_loadctl.json"}},
		{"manifest of another run", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			m.Run = "another"
		}, []string{"run another", "run 0198f2ab-run"}},
		{"chunk listed twice", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			m.Chunks = append(m.Chunks, m.Chunks[0])
		}, []string{"both chunk 0 of partition 0"}},
		{"chunk of another partition's attempt", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			m.Chunks[0].Partition = 1
		}, []string{"not in an attempt at partition 1"}},
		{"chunk outside", func(t *testing.T, s stage.Store, m *stage.Manifest) {
			m.Chunks[0].Path = "../../etc/part-00000-00000.parquet"
		}, []string{"refuse path"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStore(t)
			m := written(t, s, l)
			tc.spoil(t, s, &m)
			before := names(t, s, l.RunDir())
			err := stage.Seal(context.Background(), s, l, m)
			if !errors.Is(err, stage.ErrMismatch) {
				t.Fatalf("Seal returned %v, want ErrMismatch", err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if after := names(t, s, l.RunDir()); after != before {
				t.Errorf("run directory held %q before the refusal, %q after", before, after)
			}
		})
	}
}

const m1 = "INSP_DTL/.attempts/run_id=0198f2ab-run/0-winner/part-00000-00001.parquet"

func remove(t *testing.T, s stage.Store, name string) {
	t.Helper()
	if err := s.Remove(context.Background(), name); err != nil {
		t.Fatal(err)
	}
}

func TestSealNothing(t *testing.T) {
	s, l := newStore(t), newLayout(t)
	m := stage.Manifest{Ledger: owner.Ledger, Run: owner.Run, Job: owner.Job}
	if err := stage.Seal(context.Background(), s, l, m); err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, s, l.RunDir()), "_SUCCESS _loadctl.json"; got != want {
		t.Errorf("sealed directory holds %s, want %s", got, want)
	}
}

// A publish mark in the run's directory is one of ours, whatever the ledger says of it.
func TestSealKeepsMarks(t *testing.T) {
	s, l := newStore(t), newLayout(t)
	m := written(t, s, l)
	put(t, s, l.Mark(2), "mark")
	if err := stage.Seal(context.Background(), s, l, m); err != nil {
		t.Fatal(err)
	}
	if err := stage.CheckSealed(context.Background(), s, l, m); err != nil {
		t.Error(err)
	}
}

func TestCheckSealedFindsDifference(t *testing.T) {
	s, l := newStore(t), newLayout(t)
	m := written(t, s, l)
	if err := stage.Seal(context.Background(), s, l, m); err != nil {
		t.Fatal(err)
	}
	remove(t, s, l.Sealed(m.Chunks[2]))
	err := stage.CheckSealed(context.Background(), s, l, m)
	if !errors.Is(err, stage.ErrMismatch) || !strings.Contains(err.Error(), l.Sealed(m.Chunks[2])) {
		t.Errorf("CheckSealed returned %v, want ErrMismatch naming %s", err, l.Sealed(m.Chunks[2]))
	}
}

func TestRemoveRefusesWhatIsNotOurs(t *testing.T) {
	ctx := context.Background()
	s, l := newStore(t), newLayout(t)
	if err := errors.Join(stage.RemoveRun(ctx, s, l), stage.RemoveAttempts(ctx, s, l)); err != nil {
		t.Errorf("removing nothing: %v", err)
	}
	m := written(t, s, l)
	if err := stage.RemoveAttempts(ctx, s, l); !errors.Is(err, stage.ErrMismatch) {
		t.Errorf("attempts without an owner file: got %v, want ErrMismatch", err)
	}
	if err := stage.Seal(ctx, s, l, m); err != nil {
		t.Fatal(err)
	}
	foreign, err := stage.NewLayout(stage.Owner{Ledger: "another", Run: owner.Run, Job: owner.Job})
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.RemoveRun(ctx, s, foreign); !errors.Is(err, stage.ErrMismatch) {
		t.Errorf("run of another ledger: got %v, want ErrMismatch", err)
	}
	checkSealed(t, s, l, m)
	if err := errors.Join(stage.RemoveRun(ctx, s, l), stage.RemoveAttempts(ctx, s, l)); err != nil {
		t.Fatal(err)
	}
	if got := names(t, s, l.RunDir()) + names(t, s, l.AttemptsDir()); got != "" {
		t.Errorf("left after removal: %s", got)
	}
}

// TestRemoveBegun: a process that died before the owner file had its place leaves a directory that is cleaned all the same,
// since nothing of worth is in it yet.
func TestRemoveBegun(t *testing.T) {
	ctx := t.Context()
	s, l := newStore(t), newLayout(t)
	if err := s.MkdirAll(ctx, l.RunDir()); err != nil {
		t.Fatal(err)
	}
	put(t, s, path.Join(l.AttemptsDir(), ".draft-ABC"), "half")
	if err := errors.Join(stage.RemoveRun(ctx, s, l), stage.RemoveAttempts(ctx, s, l)); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{l.RunDir(), l.AttemptsDir()} {
		if _, err := s.Stat(ctx, dir); !errors.Is(err, stage.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
}
