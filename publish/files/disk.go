package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// makeDir makes a directory and its parents with the given mode, and syncs each parent that got a new entry.
func makeDir(dir string, mode fs.FileMode) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if err := makeDir(filepath.Dir(dir), mode); err != nil {
		return err
	}
	if err := os.Mkdir(dir, mode); errors.Is(err, fs.ErrExist) {
		return nil // someone else was first, and syncs it
	} else if err != nil {
		return err
	}
	return errors.Join(os.Chmod(dir, mode), syncDir(filepath.Dir(dir)))
}

// syncDir makes the entries of a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// writeNew writes a file that appears whole and durable under its name, or fails with fs.ErrExist. tmp is an
// unused name on the same file system.
func writeNew(tmp, name string, data []byte, mode fs.FileMode) error {
	if err := writeFile(tmp, strings.NewReader(string(data)), mode); err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, name); err != nil {
		return err
	}
	return syncDir(filepath.Dir(name))
}

// writeFile makes a file that must not be there, and syncs it.
func writeFile(name string, from io.Reader, mode fs.FileMode) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Chmod(mode); err != nil { // whatever the process' umask
		return err
	}
	if _, err := io.Copy(f, from); err != nil { // by copy_file_range where the system has it
		return err
	}
	return f.Sync()
}

// copyFile copies and compares the lengths.
func copyFile(from, to string, mode fs.FileMode) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := writeFile(to, f, mode); err != nil {
		return err
	}
	was, err := f.Stat()
	if err != nil {
		return err
	}
	is, err := os.Stat(to)
	if err == nil && is.Size() != was.Size() {
		err = &fs.PathError{Op: "copy", Path: to, Err: io.ErrUnexpectedEOF}
	}
	return err
}

// dataFiles names the files of a directory that readers see, in order. A directory among them is refused:
// neither sealed runs nor partitions have any.
func dataFiles(ctx context.Context, dir string) ([]string, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
			continue
		}
		if !e.Type().IsRegular() {
			return nil, &fs.PathError{Op: "read", Path: filepath.Join(dir, name), Err: errors.New("it is no regular file")}
		}
		out = append(out, filepath.Join(dir, name))
	}
	slices.Sort(out)
	return out, nil
}
