// Package hdfs keeps staged files on HDFS, over the native protocol (colinmarc/hdfs).
//
// What that library leaves to us, and this package does:
//
//   - Its calls take no context and have no deadline, a call that timed out leaves the connection out of step, and
//     all calls of a client wait for one lock. Here every operation and every open file has a client to itself, out of
//     a pool; each read and write of a socket has a deadline; when a context ends, the sockets of its client are
//     closed; and a client is used again only after a call that the NameNode answered.
//   - A file is not recovered when a DataNode fails: writes go on returning nil, and Close has the error. So only
//     Close tells, and after it the length is asked for and compared.
//   - Close may say that replication is in progress: all is written, the lease is open. It is then repeated.
//   - A write of no bytes allocates a block that never completes, so that Close would wait for ever.
//   - Rename overwrites. Here it looks first.
//
// Files get the group of the directory they are made in; whoever must read them (Hive) needs to be in it, or Mode
// opened.
package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"

	"github.com/loadctl/loadctl/stage"
)

// Options say where the store is and how files are made. Zero values are defaults.
type Options struct {
	NameNodes   []string // host:port, the active and the standby ones in any order
	Nameservice string   // how Hive names this HDFS in URIs; "": the first of NameNodes
	Root        string   // absolute path of a directory; made when the first file is
	User        string   // whom the NameNode takes us for (simple authentication)

	FileMode    fs.FileMode   // 0: 0640
	DirMode     fs.FileMode   // 0: 0750
	Replication int           // 0: the NameNode's default
	BlockSize   int64         // 0: the NameNode's default
	Timeout     time.Duration // of one call to the NameNode, or of one silence of a DataNode; 0: 60 s

	UseDataNodeHostname bool // connect to DataNodes by name, where their addresses do not reach here
}

// Store is a stage.Store on HDFS.
type Store struct {
	opt  Options
	pool *pool

	mu       sync.Mutex
	defaults *hdfs.ServerDefaults // asked for once
}

var _ stage.Store = (*Store)(nil)

// New checks the options. It connects to nothing: the first call does.
func New(o Options) (*Store, error) {
	switch {
	case len(o.NameNodes) == 0:
		return nil, errors.New("open hdfs store: no NameNode is given")
	case o.User == "":
		return nil, errors.New("open hdfs store: no user is given")
	case !path.IsAbs(o.Root) || path.Clean(o.Root) != o.Root:
		return nil, fmt.Errorf("open hdfs store: root %q is not a clean absolute path", o.Root)
	}
	if o.Nameservice == "" {
		o.Nameservice = o.NameNodes[0]
	}
	if o.FileMode == 0 {
		o.FileMode = 0o640
	}
	if o.DirMode == 0 {
		o.DirMode = 0o750
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	return &Store{opt: o, pool: newPool(o)}, nil
}

// at is the absolute path of a path of the store.
func (s *Store) at(p string) string { return path.Join(s.opt.Root, p) }

// do runs one operation on a client of its own, and maps its error.
func (s *Store) do(ctx context.Context, op, p string, f func(c *hdfs.Client) error) error {
	if err := check(ctx, p); err != nil {
		return err
	}
	c, err := s.pool.get(ctx)
	if err == nil {
		err = c.during(ctx, func() error { return f(c.Client) })
		s.pool.put(c)
	}
	return s.wrap(ctx, op, p, err)
}

func check(ctx context.Context, p string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return stage.CheckPath(p)
}

// Create makes a new file. It is there, and empty, at once; its length shows when Close has returned.
func (s *Store) Create(ctx context.Context, p string) (stage.File, error) {
	if err := check(ctx, p); err != nil {
		return nil, err
	}
	c, err := s.pool.get(ctx)
	if err != nil {
		return nil, s.wrap(ctx, "create", p, err)
	}
	var w *hdfs.FileWriter
	err = c.during(ctx, func() error {
		w, err = s.create(c.Client, s.at(p))
		return err
	})
	if err != nil {
		s.pool.put(c)
		return nil, s.wrap(ctx, "create", p, err)
	}
	return newFile(ctx, s, c, w, p), nil
}

func (s *Store) create(c *hdfs.Client, name string) (*hdfs.FileWriter, error) {
	defaults, err := s.serverDefaults(c)
	if err != nil {
		return nil, err
	}
	replication, blockSize := s.opt.Replication, s.opt.BlockSize
	if replication == 0 {
		replication = defaults.Replication
	}
	if blockSize == 0 {
		blockSize = defaults.BlockSize
	}
	if err := c.MkdirAll(path.Dir(name), s.opt.DirMode); err != nil {
		return nil, err
	}
	return c.CreateFile(name, replication, blockSize, s.opt.FileMode)
}

func (s *Store) serverDefaults(c *hdfs.Client) (hdfs.ServerDefaults, error) {
	s.mu.Lock()
	known := s.defaults
	s.mu.Unlock()
	if known != nil {
		return *known, nil
	}
	d, err := c.ServerDefaults()
	if err != nil {
		return d, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.defaults = &d
	return d, nil
}

// Open reads a file.
func (s *Store) Open(ctx context.Context, p string) (stage.Content, error) {
	if err := check(ctx, p); err != nil {
		return nil, err
	}
	c, err := s.pool.get(ctx)
	if err != nil {
		return nil, s.wrap(ctx, "open", p, err)
	}
	var r *hdfs.FileReader
	err = c.during(ctx, func() error {
		if r, err = c.Client.Open(s.at(p)); err == nil && r.Stat().IsDir() {
			err = errIsDirectory
		}
		return err
	})
	if err != nil {
		s.pool.put(c)
		return nil, s.wrap(ctx, "open", p, err)
	}
	return newContent(ctx, s, c, r, p), nil
}

// Stat describes a path.
func (s *Store) Stat(ctx context.Context, p string) (stage.Info, error) {
	var info stage.Info
	err := s.do(ctx, "stat", p, func(c *hdfs.Client) error {
		fi, err := c.Stat(s.at(p))
		if err == nil {
			info = describe(p, fi)
		}
		return err
	})
	return info, err
}

// List describes what is directly in a directory.
func (s *Store) List(ctx context.Context, dir string) ([]stage.Info, error) {
	var infos []stage.Info
	err := s.do(ctx, "list", dir, func(c *hdfs.Client) error {
		found, err := c.ReadDir(s.at(dir))
		for _, fi := range found {
			infos = append(infos, describe(path.Join(dir, fi.Name()), fi))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return infos, nil
}

func describe(p string, fi os.FileInfo) stage.Info {
	info := stage.Info{Path: p, ModTime: fi.ModTime(), Dir: fi.IsDir()}
	if !info.Dir {
		info.Size = fi.Size()
	}
	if status, ok := fi.Sys().(*hdfs.FileStatus); ok {
		info.ID = status.GetFileId()
	}
	return info
}

// MkdirAll makes a directory and its parents.
func (s *Store) MkdirAll(ctx context.Context, dir string) error {
	return s.do(ctx, "make directory", dir, func(c *hdfs.Client) error {
		return c.MkdirAll(s.at(dir), s.opt.DirMode)
	})
}

// Rename moves a file or directory. Between the look and the rename another client may take the name, and would be
// overwritten: names must belong to one attempt.
func (s *Store) Rename(ctx context.Context, from, to string) error {
	if err := check(ctx, to); err != nil {
		return err
	}
	return s.do(ctx, "rename", from, func(c *hdfs.Client) error {
		_, err := c.Stat(s.at(to))
		if err == nil {
			return &os.LinkError{Op: "rename", Old: s.at(from), New: s.at(to), Err: os.ErrExist}
		}
		if !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := c.MkdirAll(path.Dir(s.at(to)), s.opt.DirMode); err != nil {
			return err
		}
		return c.Rename(s.at(from), s.at(to))
	})
}

// Remove deletes a file or, in one step, a whole directory. It does not go to HDFS' trash.
func (s *Store) Remove(ctx context.Context, p string) error {
	if p == "." {
		return errors.New("remove .: the root of a store is not removed")
	}
	return s.do(ctx, "remove", p, func(c *hdfs.Client) error {
		return c.RemoveAll(s.at(p))
	})
}

// URI names a path as Hadoop's Path reads it, which is without escapes.
func (s *Store) URI(p string) string { return "hdfs://" + s.opt.Nameservice + s.at(p) }

// Identity is nameservice and root.
func (s *Store) Identity(context.Context) (string, error) {
	return strings.TrimSuffix(s.URI("."), "/"), nil
}

// Close closes all connections. Files that are still open fail.
func (s *Store) Close() error {
	s.pool.close()
	return nil
}
