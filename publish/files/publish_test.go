package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/files"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// fixture is a warehouse with one table and two sealed directories, of one and of two files.
type fixture struct {
	w      *files.Warehouse
	root   string
	target publish.Target
	staged [2]publish.Staging
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	root := t.TempDir()
	w, err := files.New(files.Config{Root: root, Format: parquet.Format{}})
	if err != nil {
		t.Fatal(err)
	}
	cols := []stage.Column{{Name: "n", Source: "N", Type: extract.Type{Kind: extract.Decimal, Precision: 10}}}
	f := fixture{w: w, root: root, target: publish.Target{Database: "dw", Table: "t", Columns: cols,
		Partition: []publish.PartitionValue{{Column: "load_date", Value: "2026-09-28"}}}}
	if err := w.Create(t.Context(), f.target); err != nil {
		t.Fatal(err)
	}
	for i := range f.staged {
		dir := t.TempDir()
		for n := range i + 1 {
			writeParquet(t, filepath.Join(dir, stage.ChunkName(i, n)), cols)
		}
		f.staged[i] = publish.Staging{Database: "dw", Table: "s" + string(rune('0'+i)), Location: "file://" + dir, Columns: cols}
		if err := w.Stage(t.Context(), f.staged[i]); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func writeParquet(t *testing.T, name string, cols []stage.Column) {
	t.Helper()
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(out, cols, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
	b.Cols[0].AppendInt(42)
	b.Rows = 1
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

func (f fixture) dir() string { return filepath.Join(f.root, "dw.db", "t", "load_date=2026-09-28") }

func (f fixture) open(t *testing.T) publish.Session {
	t.Helper()
	s, err := f.w.Open(t.Context(), "loadctl-x-1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func (f fixture) publish(t *testing.T, i int) {
	t.Helper()
	s := f.open(t)
	if _, err := s.Publish(t.Context(), publish.Publication{Staging: f.staged[i], Target: f.target}, func(publish.Progress) {}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A reader that lists the partition while it is replaced, again and again, sees one set of files or the other.
func TestReadersSeeOldOrNew(t *testing.T) {
	f := newFixture(t)
	f.publish(t, 0)
	stop, done := make(chan struct{}), make(chan string, 1)
	seen := map[int]int{}
	go func() {
		defer close(done)
		for {
			entries, err := os.ReadDir(f.dir())
			if err != nil {
				done <- err.Error()
				return
			}
			if seen[len(entries)]++; len(entries) != 1 && len(entries) != 2 {
				done <- fmt.Sprintf("%d files", len(entries))
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for i := range 60 {
		f.publish(t, (i+1)%2)
	}
	close(stop)
	if fault := <-done; fault != "" {
		t.Fatal(fault)
	}
	if seen[1] == 0 || seen[2] == 0 {
		t.Errorf("the reader did not see both: %v", seen)
	}
}

// Replaced files stay for a while, out of sight of readers of the table; the next publish after that removes them.
func TestReplacedFilesAreKeptForReaders(t *testing.T) {
	f := newFixture(t)
	f.publish(t, 0)
	old, err := os.Open(filepath.Join(f.dir(), stage.ChunkName(0, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	was, err := old.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f.publish(t, 1)
	kept, err := filepath.Glob(filepath.Join(f.root, ".loadctl-tmp", "*-closed", "*", "*.parquet"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v, want one file", kept, err)
	}
	if is, err := os.Stat(kept[0]); err != nil || !os.SameFile(was, is) {
		t.Errorf("kept another file than the one replaced: %v", err)
	}
	past := time.Now().Add(-time.Hour)
	entries, err := os.ReadDir(filepath.Join(f.root, ".loadctl-tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chtimes(filepath.Join(f.root, ".loadctl-tmp", e.Name()), past, past); err != nil {
			t.Fatal(err)
		}
	}
	f.open(t).Close(t.Context())
	leftovers(t, f)
}

// leftovers expects nothing under way any more.
func leftovers(t *testing.T, f fixture) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(f.root, ".loadctl-tmp"))
	if err != nil || len(entries) > 0 {
		t.Errorf("left in .loadctl-tmp: %v, %v", entries, err)
	}
}

// The fence may come at any moment before the swap; here it is the last one, when all is copied.
func TestFencedBeforeTheSwap(t *testing.T) {
	f := newFixture(t)
	f.publish(t, 0)
	before, err := f.w.Observe(t.Context(), f.target)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(f.root, ".loadctl-tmp")); err != nil {
		t.Fatal(err)
	}
	for _, moment := range []string{"copy", "swap"} {
		s, fenced := f.open(t), false
		_, err = s.Publish(t.Context(), publish.Publication{Staging: f.staged[1], Target: f.target}, func(p publish.Progress) {
			if p.Text == moment && !fenced {
				fenced = true
				if err := f.w.Fence(t.Context(), s.Handle()); err != nil {
					t.Error(err)
				}
			}
		})
		if !errors.Is(err, publish.ErrRefused) || !fenced {
			t.Errorf("publish fenced at %s: %v (fenced %t), want ErrRefused", moment, err, fenced)
		}
		after, err := f.w.Observe(t.Context(), f.target)
		if err != nil || before.LastDDL != after.LastDDL || before.Files[0].ID != after.Files[0].ID {
			t.Errorf("the target changed from %+v to %+v, %v", before, after, err)
		}
		if err := f.w.Fence(t.Context(), s.Handle()); err != nil {
			t.Errorf("fence again: %v", err)
		}
	}
	leftovers(t, f)
}

func TestFenceRefusesOtherHandles(t *testing.T) {
	f := newFixture(t)
	h := f.open(t).Handle()
	for _, bad := range []publish.Handle{{Instance: h.Instance}, {Instance: h.Instance, Session: "../dw.db"}, {Instance: "file://elsewhere/x", Session: h.Session}} {
		if err := f.w.Fence(t.Context(), bad); err == nil {
			t.Errorf("handle %+v was taken", bad)
		}
	}
}

func TestSessionPublishesOnce(t *testing.T) {
	f := newFixture(t)
	s := f.open(t)
	p := publish.Publication{Staging: f.staged[0], Target: f.target}
	if _, err := s.Publish(t.Context(), p, func(publish.Progress) {}); err != nil {
		t.Fatal(err)
	}
	before, err := f.w.Observe(t.Context(), f.target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Publish(t.Context(), p, func(publish.Progress) {}); !errors.Is(err, publish.ErrRefused) {
		t.Fatalf("a second publish of the session: %v, want ErrRefused", err)
	}
	if after, err := f.w.Observe(t.Context(), f.target); err != nil || after.LastDDL != before.LastDDL {
		t.Errorf("the target changed from %+v to %+v, %v", before, after, err)
	}
}

// Names go into paths, and never out of the root.
func TestNamesStayInside(t *testing.T) {
	f := newFixture(t)
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(f.root, "evil.db")); err != nil {
		t.Fatal(err)
	}
	for _, name := range [][2]string{{"evil", "t"}, {"dw", ".."}, {"dw", ""}, {"dw", "_hidden"}, {"", "t"}, {".dw", "t"}, {"dw", "../../escape"}} {
		x := f.target
		x.Database, x.Table = name[0], name[1]
		if err := f.w.Create(t.Context(), x); !errors.Is(err, publish.ErrSchema) {
			t.Errorf("create %q: %v, want ErrSchema", name, err)
		}
	}
	x := f.target
	x.Partition = []publish.PartitionValue{{Column: "load_date", Value: "../../../x"}}
	s := f.open(t)
	if _, err := s.Publish(t.Context(), publish.Publication{Staging: f.staged[0], Target: x}, func(publish.Progress) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.root, "dw.db", "t", "load_date=..%2F..%2F..%2Fx", stage.ChunkName(0, 0))); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside the root: %v, %v", entries, err)
	}
}

func TestRefusesForeignDirectoriesAndLocations(t *testing.T) {
	f := newFixture(t)
	if err := os.Mkdir(filepath.Join(f.root, "dw.db", "foreign"), 0o755); err != nil {
		t.Fatal(err)
	}
	x := f.target
	x.Table = "foreign"
	if _, err := f.w.Inspect(t.Context(), x); !errors.Is(err, publish.ErrSchema) || !strings.Contains(err.Error(), "_schema.json") {
		t.Errorf("a directory of somebody else: %v, want ErrSchema that names _schema.json", err)
	}
	for _, location := range []string{"hdfs://nn:8020/x", "/plain", "file://host/x", "file:///does/not/exist"} {
		s := f.staged[0]
		s.Table, s.Location = "elsewhere", location
		if err := f.w.Stage(t.Context(), s); !errors.Is(err, publish.ErrStatement) {
			t.Errorf("stage %s: %v, want ErrStatement", location, err)
		}
	}
}

// What cannot be copied leaves the target alone and says so.
func TestUnreadableStagedFileIsRefused(t *testing.T) {
	f := newFixture(t)
	f.publish(t, 0)
	before, err := f.w.Observe(t.Context(), f.target)
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimPrefix(f.staged[1].Location, "file://")
	if err := os.Symlink("/nowhere", filepath.Join(dir, "part-00009-00000.parquet")); err != nil {
		t.Fatal(err)
	}
	_, err = f.open(t).Publish(t.Context(), publish.Publication{Staging: f.staged[1], Target: f.target}, func(publish.Progress) {})
	if !errors.Is(err, publish.ErrRefused) {
		t.Errorf("error %v, want ErrRefused", err)
	}
	if after, err := f.w.Observe(t.Context(), f.target); err != nil || after.LastDDL != before.LastDDL {
		t.Errorf("the target changed from %+v to %+v, %v", before, after, err)
	}
}

func TestModes(t *testing.T) {
	f := newFixture(t)
	f.publish(t, 0)
	for name, want := range map[string]fs.FileMode{f.dir(): 0o750, filepath.Join(f.dir(), stage.ChunkName(0, 0)): 0o640} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// TestDeadSessionsGo: what a publisher that died has left goes a day later. One that is alive stays, and so does one that
// holds a partition which was moved aside.
func TestDeadSessionsGo(t *testing.T) {
	f := newFixture(t)
	sessions := []publish.Session{f.open(t), f.open(t), f.open(t)}
	dir := func(i int) string { return filepath.Join(f.root, ".loadctl-tmp", sessions[i].Handle().Session) }
	if err := os.Mkdir(filepath.Join(dir(1), "old"), 0o750); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-25 * time.Hour)
	for i := range 2 {
		if err := os.Chtimes(dir(i), old, old); err != nil {
			t.Fatal(err)
		}
	}
	f.publish(t, 0)
	for i, want := range []bool{false, true, true} {
		if _, err := os.Stat(dir(i)); (err == nil) != want {
			t.Errorf("session %d is there: %v, want %v", i, err == nil, want)
		}
	}
	if _, err := sessions[0].Publish(t.Context(), publish.Publication{Staging: f.staged[1], Target: f.target}, func(publish.Progress) {}); !errors.Is(err, publish.ErrRefused) {
		t.Errorf("publish in a session that was taken for dead: %v, want ErrRefused", err)
	}
}
