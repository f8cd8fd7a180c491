package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/loadctl/loadctl/stage"
)

// check is what every call starts with.
func check(ctx context.Context, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return stage.CheckPath(path)
}

// vacant is ErrExist when something has the name.
func vacant(name string) error {
	_, err := os.Lstat(name)
	switch {
	case err == nil:
		return stage.ErrExist
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return mapError(err)
	}
}

// makeDir makes a directory and its parents, with the store's mode whatever the umask, and syncs each parent
// that got a new entry: a file in a directory that a crash forgets is lost too.
func (s *Store) makeDir(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.makeDir(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, s.dirMode); err != nil {
		if errors.Is(err, fs.ErrExist) { // another worker was first, and syncs it
			return nil
		}
		return err
	}
	if err := os.Chmod(dir, s.dirMode); err != nil {
		return err
	}
	return syncDirs(filepath.Dir(dir))
}

// syncDirs makes the entries of directories durable.
func syncDirs(dirs ...string) error {
	for _, dir := range slices.Compact(dirs) {
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return fmt.Errorf("sync %s: %w", dir, err)
		}
	}
	return nil
}

// lookAndRename is renameNoReplace in two steps. Names belong to one attempt, so that the look is enough.
func lookAndRename(from, to string) error {
	if _, err := os.Lstat(to); err == nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrExist}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(from, to)
}

// mapError adds the port's sentinel to an error of the operating system.
func mapError(err error) error {
	for _, m := range []struct{ system, port error }{
		{fs.ErrExist, stage.ErrExist},
		{syscall.ENOTEMPTY, stage.ErrExist},
		{fs.ErrNotExist, stage.ErrNotExist},
		{fs.ErrPermission, stage.ErrPermission},
		{syscall.EROFS, stage.ErrPermission},
		{syscall.ENOSPC, stage.ErrNoSpace},
		{syscall.EDQUOT, stage.ErrNoSpace},
		{syscall.EIO, stage.ErrUnreachable},
		{syscall.ESTALE, stage.ErrUnreachable},
	} {
		if errors.Is(err, m.system) {
			return fmt.Errorf("%w: %w", m.port, err)
		}
	}
	return err
}
