package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/hdfs"
	"github.com/loadctl/loadctl/stage/local"
)

func (b *builder) store(c config.Store) stage.Store {
	switch {
	case c.Local != nil:
		s, err := local.New(local.Options{Root: c.Local.Root, FileMode: fs.FileMode(c.Local.Mode), DirMode: dirMode(c.Local.Mode)})
		if b.keep(func() error { return s.Close() }, err) {
			return s
		}
	case c.HDFS != nil:
		s, err := hdfsStore(*c.HDFS, c.HDFS.Root)
		if b.keep(func() error { return s.Close() }, err) {
			return s
		}
	default:
		b.errs = append(b.errs, errors.New("no store is configured"))
	}
	return nil
}

func hdfsStore(c config.HDFSStore, root string) (*hdfs.Store, error) {
	if u, err := url.Parse(root); err == nil && u.Scheme != "" {
		root = u.Path
	}
	return hdfs.New(hdfs.Options{
		NameNodes: c.Namenodes, Nameservice: c.Nameservice, Root: root, User: c.User,
		FileMode: fs.FileMode(c.Mode), DirMode: dirMode(c.Mode), Timeout: c.CallTimeout,
	})
}

// dirMode is the mode of directories around files of a mode: who may read a file may enter its directory.
func dirMode(m config.FileMode) fs.FileMode {
	return fs.FileMode(m) | fs.FileMode(m)&0o444>>2
}

// lister lists the files below a location, through a store whose root is that of the file system.
func lister(root stage.Store) hive.Lister {
	return func(ctx context.Context, location string) ([]publish.FileEvidence, error) {
		dir, err := directory(location)
		if err != nil {
			return nil, err
		}
		var out []publish.FileEvidence
		if err := walk(ctx, root, dir, &out); err != nil {
			return nil, fmt.Errorf("list %s: %w", location, err)
		}
		slices.SortFunc(out, func(a, b publish.FileEvidence) int { return strings.Compare(a.Path, b.Path) })
		return out, nil
	}
}

// directory is the path of a location relative to the root. Nothing is unescaped: "%2F" in a partition's directory
// is a name.
func directory(location string) (string, error) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return relative(location), nil
	}
	if scheme != "hdfs" {
		return "", fmt.Errorf("list %s: only tables on hdfs can be targets yet", location)
	}
	_, path, _ := strings.Cut(rest, "/")
	return relative(path), nil
}

func relative(path string) string { return cmp.Or(strings.Trim(path, "/"), ".") }

func walk(ctx context.Context, root stage.Store, dir string, out *[]publish.FileEvidence) error {
	entries, err := root.List(ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Dir {
			if err := walk(ctx, root, e.Path, out); err != nil {
				return err
			}
			continue
		}
		*out = append(*out, publish.FileEvidence{Path: "/" + e.Path, ID: e.ID, Size: e.Size, ModTime: e.ModTime})
	}
	return nil
}
