package stage

import (
	"context"
	"errors"
	"io"
	"time"
)

// Errors that every Store maps its own to. They are wrapped.
var (
	// ErrExist: Create or Rename found something at the name. Nothing was overwritten.
	ErrExist = errors.New("already exists")
	// ErrNotExist: nothing is there.
	ErrNotExist = errors.New("does not exist")
	// ErrPermission: this user may not.
	ErrPermission = errors.New("permission denied")
	// ErrUnreachable: no connection, safe mode, or it was lost. It may pass; a write may have been done.
	ErrUnreachable = errors.New("store unreachable")
	// ErrNoSpace: out of space or over quota.
	ErrNoSpace = errors.New("no space left")
	// ErrMismatch: what is on the store is not what the ledger lists.
	ErrMismatch = errors.New("files differ from the ledger")
)

// Info describes a file or directory. Path is relative to the store's root.
type Info struct {
	Path    string
	Size    int64
	ModTime time.Time
	Dir     bool
	ID      uint64 // the store's own id of the file (HDFS fileId, inode), which a rename keeps; 0 unknown
}

// File is a file being written. It is durable, whole and visible at its length only after Close returned nil;
// after any error it is worth nothing and may be left behind (its name is never used again). Abort gives up.
type File interface {
	io.Writer
	Close() error
	Abort() error
}

// Content is a file being read.
type Content interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Store is a directory tree. Paths are slash-separated, clean, relative to the root that the store was made
// with. Its methods are safe for concurrent use.
type Store interface {
	// Create makes a new file, with its missing parents; ErrExist if the name is taken. ctx is that of the file's
	// whole life: once it has ended, nothing more is written and Close fails.
	Create(ctx context.Context, path string) (File, error)
	// Open reads a file.
	Open(ctx context.Context, path string) (Content, error)
	// Stat describes a path; ErrNotExist if nothing is there.
	Stat(ctx context.Context, path string) (Info, error)
	// List describes what is directly in a directory, ordered by path; ErrNotExist if it is not there.
	List(ctx context.Context, dir string) ([]Info, error)
	// MkdirAll makes a directory and its parents.
	MkdirAll(ctx context.Context, dir string) error
	// Rename moves a file or directory, making to's parents. It looks first: ErrExist if to is taken. (HDFS
	// itself would overwrite; names are unique to an attempt, so that the look is enough.)
	Rename(ctx context.Context, from, to string) error
	// Remove deletes a file or a whole directory; nothing there is no error.
	Remove(ctx context.Context, path string) error
	// URI names a path as the warehouse must name it.
	URI(path string) string
	// Identity names the store itself (a nameservice, a host and directory), compared between processes.
	Identity(ctx context.Context) (string, error)
	Close() error
}
