package wire

import (
	"errors"
	"io/fs"
	"net/url"

	"github.com/loadctl/loadctl/config"
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
