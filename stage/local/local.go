// Package local keeps staged files in a directory of this host: the default when no HDFS is configured.
//
// A file appears under its name whole and durable, or not at all: it is written under a name of its own in
// .loadctl-tmp, synced, moved without overwriting, and then its directory is synced. A process that dies leaves
// nothing but names in .loadctl-tmp, which go with the first removal a day later.
package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/loadctl/loadctl/stage"
)

// tmpDir is where files are before they have their name, and where directories go to be deleted. It is in the
// root, so that moving from and to it is a rename.
const tmpDir = ".loadctl-tmp"

// Options say where the store is and who may read it.
type Options struct {
	Root     string      // made if it is not there
	FileMode fs.FileMode // 0: 0640
	DirMode  fs.FileMode // 0: 0750
}

// Store is a stage.Store in a local directory.
type Store struct {
	root     string // absolute, without symbolic links
	fileMode fs.FileMode
	dirMode  fs.FileMode
}

var _ stage.Store = (*Store)(nil)

// New opens the store, making its root directory if it is not there.
func New(o Options) (*Store, error) {
	if o.Root == "" {
		return nil, errors.New("open local store: no root directory is given")
	}
	s := &Store{fileMode: o.FileMode, dirMode: o.DirMode}
	if s.fileMode == 0 {
		s.fileMode = 0o640
	}
	if s.dirMode == 0 {
		s.dirMode = 0o750
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, fmt.Errorf("open local store %s: %w", o.Root, err)
	}
	if err := s.makeDir(root); err != nil {
		return nil, fmt.Errorf("open local store: %w", mapError(err))
	}
	if s.root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("open local store: %w", mapError(err))
	}
	return s, nil
}

// at is where a path of the store is on this host.
func (s *Store) at(path string) string { return filepath.Join(s.root, filepath.FromSlash(path)) }

// temporary makes a new name in tmpDir, and the directory if need be.
func (s *Store) temporary() (string, error) {
	dir := s.at(tmpDir)
	if err := s.makeDir(dir); err != nil {
		return "", err
	}
	return filepath.Join(dir, rand.Text()), nil
}

// Create makes a new file. Others see it when Close has returned.
func (s *Store) Create(ctx context.Context, path string) (stage.File, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	name := s.at(path)
	if err := vacant(name); err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	if err := s.makeDir(filepath.Dir(name)); err != nil {
		return nil, fmt.Errorf("create %s: %w", name, mapError(err))
	}
	draft, err := s.temporary()
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, mapError(err))
	}
	f, err := os.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, s.fileMode)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, mapError(err))
	}
	if err := f.Chmod(s.fileMode); err != nil { // whatever the process' umask
		return nil, errors.Join(fmt.Errorf("create %s: %w", name, mapError(err)), f.Close(), os.Remove(draft))
	}
	return &file{ctx: ctx, f: f, name: name}, nil
}

// Open reads a file.
func (s *Store) Open(ctx context.Context, path string) (stage.Content, error) {
	if err := check(ctx, path); err != nil {
		return nil, err
	}
	f, err := os.Open(s.at(path))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", s.at(path), mapError(err))
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", s.at(path), mapError(err)), f.Close())
	}
	return &content{File: f, size: info.Size()}, nil
}

// Stat describes a path.
func (s *Store) Stat(ctx context.Context, path string) (stage.Info, error) {
	if err := check(ctx, path); err != nil {
		return stage.Info{}, err
	}
	info, err := os.Lstat(s.at(path))
	if err != nil {
		return stage.Info{}, fmt.Errorf("stat %s: %w", s.at(path), mapError(err))
	}
	return describe(path, info), nil
}

// List describes what is directly in a directory. The store's own directory for drafts is not shown.
func (s *Store) List(ctx context.Context, dir string) ([]stage.Info, error) {
	if err := check(ctx, dir); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.at(dir))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.at(dir), mapError(err))
	}
	infos := make([]stage.Info, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed since
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", s.at(dir), mapError(err))
		}
		if path := join(dir, e.Name()); path != tmpDir {
			infos = append(infos, describe(path, info))
		}
	}
	return infos, nil
}

// MkdirAll makes a directory and its parents, durably.
func (s *Store) MkdirAll(ctx context.Context, dir string) error {
	if err := check(ctx, dir); err != nil {
		return err
	}
	if err := s.makeDir(s.at(dir)); err != nil {
		return fmt.Errorf("make directory %s: %w", s.at(dir), mapError(err))
	}
	return nil
}

// Rename moves a file or directory, durably, and never overwrites.
func (s *Store) Rename(ctx context.Context, from, to string) error {
	if err := errors.Join(check(ctx, from), check(ctx, to)); err != nil {
		return err
	}
	src, dst := s.at(from), s.at(to)
	err := s.makeDir(filepath.Dir(dst))
	if err == nil {
		err = renameNoReplace(src, dst)
	}
	if err == nil {
		err = syncDirs(filepath.Dir(dst), filepath.Dir(src))
	}
	if err != nil {
		return fmt.Errorf("rename %s to %s: %w", src, dst, mapError(err))
	}
	return nil
}

// Remove deletes a file or a whole directory. A directory is out of the way at once, as on HDFS: it is moved
// aside first, so that a crash does not leave a half-deleted one under its name.
func (s *Store) Remove(ctx context.Context, path string) error {
	if err := check(ctx, path); err != nil {
		return err
	}
	if path == "." {
		return errors.New("remove .: the root of a store is not removed")
	}
	err := s.discard(s.at(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", s.at(path), mapError(err))
	}
	return nil
}

func (s *Store) discard(name string) error {
	if _, err := os.Lstat(name); err != nil {
		return err
	}
	aside, err := s.temporary()
	if err != nil {
		return err
	}
	if err := os.Rename(name, aside); err != nil {
		return err
	}
	if err := syncDirs(filepath.Dir(name)); err != nil {
		return err
	}
	s.sweep()
	return os.RemoveAll(aside)
}

// keepDrafts is how long a draft that nobody writes to may still be somebody's. One that is not there any more when its
// writer closes it is an error to the writer, and the chunk is written again.
const keepDrafts = 24 * time.Hour

// sweep removes what processes that died have left in tmpDir. What it cannot remove, the next one will.
func (s *Store) sweep() {
	entries, err := os.ReadDir(s.at(tmpDir))
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > keepDrafts {
			os.RemoveAll(filepath.Join(s.at(tmpDir), e.Name()))
		}
	}
}

// URI names a path for programs on this host.
func (s *Store) URI(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(s.at(path))}).String()
}

// Identity is host and directory: the same path of another host is another store.
func (s *Store) Identity(ctx context.Context) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("identify local store %s: %w", s.root, err)
	}
	return "local:" + host + ":" + s.root, nil
}

// Close has nothing to close.
func (s *Store) Close() error { return nil }
