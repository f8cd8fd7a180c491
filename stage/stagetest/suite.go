package stagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadctl/loadctl/stage"
)

// Run checks that a store is what stage.Store says. newStore returns a store with an empty root of its own.
func Run(t *testing.T, newStore func(t *testing.T) stage.Store) {
	for _, tc := range []struct {
		name string
		run  func(c *conformance)
	}{
		{"create and read", (*conformance).createAndRead},
		{"create never overwrites", (*conformance).createNeverOverwrites},
		{"one of many creators wins", (*conformance).oneCreatorWins},
		{"abort leaves nothing readable", (*conformance).abort},
		{"end of the context ends a file", (*conformance).contextEndsFile},
		{"cancelled calls", (*conformance).cancelled},
		{"read at any place", (*conformance).readAt},
		{"nothing there", (*conformance).nothingThere},
		{"directories", (*conformance).directories},
		{"list", (*conformance).list},
		{"rename files", (*conformance).renameFiles},
		{"rename directories", (*conformance).renameDirectories},
		{"rename never overwrites", (*conformance).renameNeverOverwrites},
		{"remove", (*conformance).remove},
		{"unsafe paths", (*conformance).unsafePaths},
		{"odd names", (*conformance).oddNames},
		{"many at once", (*conformance).manyAtOnce},
		{"names of the store", (*conformance).names},
		{"seal", (*conformance).seal},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newStore(t)
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
			tc.run(&conformance{T: t, s: s, ctx: t.Context()})
		})
	}
}

type conformance struct {
	*testing.T
	s   stage.Store
	ctx context.Context
}

func (c *conformance) put(name string, content []byte) {
	c.Helper()
	f, err := c.s.Create(c.ctx, name)
	if err != nil {
		c.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		c.Fatal(err)
	}
	if err := f.Close(); err != nil {
		c.Fatal(err)
	}
}

func (c *conformance) get(name string) []byte {
	c.Helper()
	f, err := c.s.Open(c.ctx, name)
	if err != nil {
		c.Fatal(err)
	}
	content, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err := errors.Join(err, f.Close()); err != nil {
		c.Fatal(err)
	}
	return content
}

func (c *conformance) want(err, sentinel error, what string) {
	c.Helper()
	if !errors.Is(err, sentinel) {
		c.Errorf("%s: got %v, want %v", what, err, sentinel)
	}
}

func (c *conformance) absent(name string) {
	c.Helper()
	_, err := c.s.Stat(c.ctx, name)
	c.want(err, stage.ErrNotExist, "stat "+name)
}

func (c *conformance) listing(dir string) string {
	c.Helper()
	infos, err := c.s.List(c.ctx, dir)
	if err != nil {
		c.Fatal(err)
	}
	var paths []string
	for _, i := range infos {
		paths = append(paths, i.Path)
	}
	return strings.Join(paths, " ")
}

func (c *conformance) createAndRead() {
	large := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // several blocks, where there are small ones
	for name, content := range map[string][]byte{"empty": nil, "a/b/c/small": []byte("hello"), "a/large": large} {
		before := time.Now().Add(-time.Minute)
		c.put(name, content)
		if got := c.get(name); !bytes.Equal(got, content) {
			c.Errorf("%s: read %d bytes, wrote %d, not the same", name, len(got), len(content))
		}
		info, err := c.s.Stat(c.ctx, name)
		if err != nil {
			c.Fatal(err)
		}
		if info.Path != name || info.Size != int64(len(content)) || info.Dir || info.ModTime.Before(before) || info.ID == 0 {
			c.Errorf("Stat(%s) = %+v; want a file of %d bytes, just modified, with an id", name, info, len(content))
		}
	}
}

func (c *conformance) createNeverOverwrites() {
	c.put("d/f", []byte("first"))
	for _, taken := range []string{"d/f", "d"} {
		f, err := c.s.Create(c.ctx, taken)
		c.want(err, stage.ErrExist, "create "+taken+" again")
		if f != nil {
			c.Errorf("create %s again returns a file", taken)
		}
	}
	if got := c.get("d/f"); string(got) != "first" {
		c.Errorf("after that the file holds %q, want %q", got, "first")
	}
}

func (c *conformance) oneCreatorWins() {
	const creators = 6
	closed := make([]error, creators)
	var wait sync.WaitGroup
	for i := range creators {
		wait.Go(func() {
			f, err := c.s.Create(c.ctx, "mark")
			if err == nil {
				_, err = fmt.Fprintf(f, "creator %d", i)
				err = errors.Join(err, f.Close())
			}
			closed[i] = err
		})
	}
	wait.Wait()
	winner := slices.Index(closed, nil)
	if winner < 0 {
		c.Fatalf("nobody won: %v", closed)
	}
	for i, err := range closed {
		if i != winner {
			c.want(err, stage.ErrExist, fmt.Sprintf("creator %d beside the winner %d", i, winner))
		}
	}
	if got, want := string(c.get("mark")), fmt.Sprintf("creator %d", winner); got != want {
		c.Errorf("the file holds %q, want the winner's %q", got, want)
	}
}

func (c *conformance) abort() {
	f, err := c.s.Create(c.ctx, "d/f")
	if err != nil {
		c.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		c.Fatal(err)
	}
	if err := f.Abort(); err != nil {
		c.Error(err)
	}
	if err := f.Abort(); err != nil {
		c.Errorf("a second Abort: %v", err)
	}
	if err := f.Close(); err == nil {
		c.Error("Close after Abort returns nil")
	}
	if info, err := c.s.Stat(c.ctx, "d/f"); err == nil && info.Size > 0 {
		c.Errorf("after Abort there are %d bytes", info.Size)
	}
	c.put("d/g", []byte("whole"))
	g, err := c.s.Create(c.ctx, "d/h")
	if err != nil {
		c.Fatal(err)
	}
	if err := g.Close(); err != nil {
		c.Fatal(err)
	}
	if err := g.Abort(); err != nil {
		c.Errorf("Abort after Close: %v", err)
	}
	if _, err := c.s.Stat(c.ctx, "d/h"); err != nil {
		c.Errorf("Abort after Close removed the file: %v", err)
	}
}

func (c *conformance) contextEndsFile() {
	ctx, cancel := context.WithCancel(c.ctx)
	f, err := c.s.Create(ctx, "f")
	if err != nil {
		c.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		c.Fatal(err)
	}
	cancel()
	if err := f.Close(); !errors.Is(err, context.Canceled) {
		c.Errorf("Close after the context ended: got %v, want context.Canceled", err)
	}
	if info, err := c.s.Stat(c.ctx, "f"); err == nil && info.Size > 0 {
		c.Errorf("after that there are %d bytes", info.Size)
	}
	c.put("g", []byte("the store goes on"))
}

func (c *conformance) cancelled() {
	c.put("f", []byte("x"))
	ctx, cancel := context.WithCancel(c.ctx)
	cancel()
	_, errCreate := c.s.Create(ctx, "g")
	_, errOpen := c.s.Open(ctx, "f")
	_, errStat := c.s.Stat(ctx, "f")
	_, errList := c.s.List(ctx, ".")
	for what, err := range map[string]error{
		"create": errCreate, "open": errOpen, "stat": errStat, "list": errList,
		"mkdir": c.s.MkdirAll(ctx, "d"), "rename": c.s.Rename(ctx, "f", "h"), "remove": c.s.Remove(ctx, "f"),
	} {
		c.want(err, context.Canceled, what)
	}
	if got := c.listing("."); got != "f" {
		c.Errorf("cancelled calls left %q, want f", got)
	}
}

func (c *conformance) readAt() {
	content := make([]byte, 300_000)
	for i := range content {
		content[i] = byte(i * 7 / 3)
	}
	c.put("f", content)
	f, err := c.s.Open(c.ctx, "f")
	if err != nil {
		c.Fatal(err)
	}
	defer f.Close()
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			off := (i * 104_729) % len(content)
			p := make([]byte, 10_000)
			n, err := f.ReadAt(p, int64(off))
			want := content[off:min(off+len(p), len(content))]
			if !bytes.Equal(p[:n], want) {
				c.Errorf("ReadAt(%d) read %d bytes that are not those of the file", off, n)
			}
			if short := n < len(p); err != nil && err != io.EOF || short != (err == io.EOF) {
				c.Errorf("ReadAt(%d) = %d, %v", off, n, err)
			}
		})
	}
	wait.Wait()
	for _, off := range []int64{int64(len(content)), 1 << 40} {
		if n, err := f.ReadAt(make([]byte, 1), off); n != 0 || err != io.EOF {
			c.Errorf("ReadAt(%d) = %d, %v; want 0, EOF", off, n, err)
		}
	}
	if n, err := f.ReadAt(make([]byte, 1), -1); err == nil {
		c.Errorf("ReadAt(-1) = %d, nil", n)
	}
}

func (c *conformance) manyAtOnce() {
	const writers, files = 8, 4
	errs := make([]error, writers)
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := range files {
				from, to := fmt.Sprintf("attempt/%d/%d", w, i), fmt.Sprintf("run/%d-%d", w, i)
				f, err := c.s.Create(c.ctx, from)
				if err == nil {
					_, err = fmt.Fprint(f, to)
					err = errors.Join(err, f.Close())
				}
				if err == nil {
					err = c.s.Rename(c.ctx, from, to)
				}
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		c.Fatal(err)
	}
	for w := range writers {
		for i := range files {
			name := fmt.Sprintf("run/%d-%d", w, i)
			if got := c.get(name); string(got) != name {
				c.Errorf("%s holds %q", name, got)
			}
		}
	}
}

func (c *conformance) names() {
	first, err := c.s.Identity(c.ctx)
	if err != nil || first == "" {
		c.Fatalf("Identity() = %q, %v", first, err)
	}
	if again, err := c.s.Identity(c.ctx); err != nil || again != first {
		c.Errorf("Identity() = %q, then %q, %v", first, again, err)
	}
	if uri := c.s.URI("a/b"); !strings.Contains(uri, "://") || !strings.HasSuffix(uri, "/a/b") {
		c.Errorf("URI(a/b) = %q; want scheme://.../a/b", uri)
	}
}

func (c *conformance) seal() {
	owner := stage.Owner{Ledger: "ledger", Run: "run", Job: "job"}
	l, err := stage.NewLayout(owner)
	if err != nil {
		c.Fatal(err)
	}
	m := stage.Manifest{Ledger: owner.Ledger, Run: owner.Run, Job: owner.Job}
	for partition := range 2 {
		dir, err := l.AttemptDir(partition, "token")
		if err != nil {
			c.Fatal(err)
		}
		chunk := stage.Chunk{Partition: partition, Path: dir + "/" + stage.ChunkName(partition, 0), Bytes: 4}
		c.put(chunk.Path, []byte("rows"))
		m.Chunks = append(m.Chunks, chunk)
	}
	for range 2 {
		if err := stage.Seal(c.ctx, c.s, l, m); err != nil {
			c.Fatal(err)
		}
	}
	want := "job/run_id=run/_SUCCESS job/run_id=run/_loadctl.json job/run_id=run/part-00000-00000.parquet job/run_id=run/part-00001-00000.parquet"
	if got := c.listing(l.RunDir()); got != want {
		c.Errorf("sealed directory holds %s, want %s", got, want)
	}
	if err := errors.Join(stage.RemoveRun(c.ctx, c.s, l), stage.RemoveAttempts(c.ctx, c.s, l)); err != nil {
		c.Error(err)
	}
	c.absent(l.RunDir())
	c.absent(l.AttemptsDir())
}
