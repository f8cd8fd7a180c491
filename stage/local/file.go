package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/loadctl/loadctl/stage"
)

// file is written under a name in tmpDir until Close gives it its own.
type file struct {
	ctx  context.Context // of its whole life
	f    *os.File
	name string
	err  error // of the first failure: the file is worth nothing after it
	done bool
}

func (f *file) Write(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.err = f.ctx.Err(); f.err != nil {
		return 0, f.err
	}
	n, err := f.f.Write(p)
	if err != nil {
		f.err = fmt.Errorf("write %s: %w", f.name, mapError(err))
	}
	return n, f.err
}

// Close syncs the content, then moves the file to its name, then syncs that directory: a crash between any two
// shows nothing or all.
func (f *file) Close() error {
	if f.done {
		return fmt.Errorf("close %s: %w", f.name, fs.ErrClosed)
	}
	if err := cmp.Or(f.err, f.ctx.Err()); err != nil {
		return errors.Join(err, f.Abort())
	}
	if err := f.f.Sync(); err != nil {
		return errors.Join(fmt.Errorf("sync %s: %w", f.name, mapError(err)), f.Abort())
	}
	if err := f.f.Close(); err != nil {
		return errors.Join(fmt.Errorf("close %s: %w", f.name, mapError(err)), f.Abort())
	}
	if err := renameNoReplace(f.f.Name(), f.name); err != nil {
		return errors.Join(fmt.Errorf("close %s: %w", f.name, mapError(err)), f.Abort())
	}
	f.done = true
	if err := syncDirs(filepath.Dir(f.name)); err != nil {
		return fmt.Errorf("close %s: %w", f.name, mapError(err))
	}
	return nil
}

func (f *file) Abort() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.f.Close()
	if errors.Is(err, fs.ErrClosed) {
		err = nil
	}
	return errors.Join(err, os.Remove(f.f.Name()))
}

// content is a file being read; its size is that of the moment it was opened.
type content struct {
	*os.File
	size int64
}

func (c *content) Size() int64 { return c.size }

func describe(path string, info fs.FileInfo) stage.Info {
	i := stage.Info{Path: path, ModTime: info.ModTime(), Dir: info.IsDir()}
	if !i.Dir {
		i.Size = info.Size()
	}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		i.ID = sys.Ino
	}
	return i
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
