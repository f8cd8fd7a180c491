package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/loadctl/loadctl/stage"
)

// Between two asks whether replication is over.
const (
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)

// file is being written. Its client holds the lease, so it has it to itself until it ends.
type file struct {
	ctx     context.Context // of its whole life
	stop    func() bool     // ends the watch over ctx
	s       *Store
	c       *client
	w       *hdfs.FileWriter
	path    string
	written int64
	err     error // of the first failure: the file is worth nothing after it
	ended   bool
}

func newFile(ctx context.Context, s *Store, c *client, w *hdfs.FileWriter, path string) *file {
	return &file{ctx: ctx, stop: context.AfterFunc(ctx, c.wires.cut), s: s, c: c, w: w, path: path}
}

func (f *file) Write(p []byte) (int, error) {
	if f.err != nil || len(p) == 0 { // a write of nothing would allocate a block that never completes
		return 0, f.err
	}
	n, err := f.w.Write(p)
	f.written += int64(n)
	if err != nil {
		f.fail("write", err)
	}
	return n, f.err
}

func (f *file) fail(op string, err error) {
	f.c.wires.setBroken()
	f.err = f.s.wrap(f.ctx, op, f.path, err)
}

// Close waits until the DataNodes have everything and the NameNode has closed the file, then compares its length.
func (f *file) Close() error {
	if f.ended {
		return fmt.Errorf("close %s: it was closed or given up before", f.s.URI(f.path))
	}
	if f.err == nil && f.ctx.Err() != nil {
		f.fail("close", f.ctx.Err())
	}
	if f.err == nil {
		if err := f.complete(); err != nil {
			f.fail("close", err)
		}
	}
	if f.err == nil {
		f.checkLength()
	}
	if f.err != nil {
		return errors.Join(f.err, f.Abort())
	}
	f.end()
	return nil
}

// complete closes the file, and asks again while the NameNode waits for replicas.
func (f *file) complete() error {
	patience := time.NewTimer(f.s.opt.Timeout)
	defer patience.Stop()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := f.w.Close()
		if !hdfs.IsErrReplicating(err) {
			return err
		}
		select {
		case <-f.ctx.Done():
			return f.ctx.Err()
		case <-patience.C:
			return fmt.Errorf("%w for %v", err, f.s.opt.Timeout)
		case <-time.After(pause):
		}
	}
}

func (f *file) checkLength() {
	info, err := f.c.Stat(f.s.at(f.path))
	if err != nil {
		f.fail("close", err)
	} else if info.Size() != f.written {
		f.fail("close", fmt.Errorf("%d bytes are there, %d were written: %w", info.Size(), f.written, stage.ErrMismatch))
	}
}

// end gives the client back.
func (f *file) end() {
	f.ended = true
	f.stop()
	f.s.pool.put(f.c)
}

// Abort closes the connections, so that nothing more is written, and removes what is there, which also ends the
// lease. It does so even if the file's own context has ended.
func (f *file) Abort() error {
	if f.ended {
		return nil
	}
	f.c.wires.setBroken()
	f.end()
	if f.err == nil {
		f.err = fmt.Errorf("write %s: it was given up", f.s.URI(f.path))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), f.s.opt.Timeout)
	defer cancel()
	return f.s.Remove(ctx, f.path)
}

// content is a file being read. The library's reader has one place at a time, so reads wait for each other.
type content struct {
	ctx  context.Context
	stop func() bool
	s    *Store
	path string
	size int64

	mu    sync.Mutex
	c     *client
	r     *hdfs.FileReader
	ended bool
}

func newContent(ctx context.Context, s *Store, c *client, r *hdfs.FileReader, path string) *content {
	return &content{ctx: ctx, stop: context.AfterFunc(ctx, c.wires.cut), s: s, c: c, r: r, path: path, size: r.Stat().Size()}
}

func (c *content) Size() int64 { return c.size }

func (c *content) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read %s: negative offset %d", c.s.URI(c.path), off)
	}
	if off >= c.size {
		return 0, io.EOF
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return 0, fmt.Errorf("read %s: it is closed", c.s.URI(c.path))
	}
	n, err := c.r.ReadAt(p, off)
	if err == nil || errors.Is(err, io.EOF) && off+int64(n) == c.size {
		return n, err
	}
	c.c.wires.setBroken()
	return n, c.s.wrap(c.ctx, "read", c.path, err)
}

func (c *content) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return nil
	}
	c.ended = true
	c.stop()
	// A DataNode's connection that is closed in the middle of a block may say so; nothing was lost by it.
	_ = c.r.Close()
	c.s.pool.put(c.c)
	return nil
}
