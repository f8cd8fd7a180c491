package files

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/loadctl/loadctl/publish"
)

// Names in the root and in a table's directory that are not data. Readers take "_" and "." for hidden.
const (
	schemaFile = "_schema.json"
	tmpDir     = ".loadctl-tmp"
	stagingDir = ".loadctl-staging"
)

// escape writes one component of a path as Hive does (FileUtils.escapePathName): the same characters, in the
// same form, so that other readers find the value again.
func escape(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c < 0x20 || c == 0x7f || strings.IndexByte("\"#%'*/:=?\\{[]^", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// component checks and escapes the name of a database or table. Names are lower case, as in Hive.
func component(what, name string) (string, error) {
	if name == "" || name[0] == '.' || name[0] == '_' {
		return "", fmt.Errorf("%s %q: %w: a name begins with a letter, digit or other visible character", what, name, publish.ErrSchema)
	}
	return escape(strings.ToLower(name)), nil
}

// tablePath is the directory of a table.
func (w *Warehouse) tablePath(database, table string) (string, error) {
	d, err := component("database", database)
	if err != nil {
		return "", err
	}
	t, err := component("table", table)
	if err != nil {
		return "", err
	}
	return w.inside(filepath.Join(d+".db", t))
}

// dataPath is the directory of a target's files: the partition's, or the table's own.
func (w *Warehouse) dataPath(t publish.Target) (string, error) {
	dir, err := w.tablePath(t.Database, t.Table)
	if err != nil {
		return "", err
	}
	for _, p := range t.Partition {
		if p.Value == "" || p.Column == "" {
			return "", fmt.Errorf("partition column %q: %w: neither name nor value may be empty", p.Column, publish.ErrSchema)
		}
		dir = filepath.Join(dir, escape(strings.ToLower(p.Column))+"="+escape(p.Value))
	}
	below, err := filepath.Rel(w.root, dir)
	if err != nil {
		return "", err
	}
	return w.inside(below)
}

// inside makes a path below the root absolute and refuses one that leads through anything but directories: a
// symbolic link could lead out.
func (w *Warehouse) inside(below string) (string, error) {
	at := w.root
	for _, name := range strings.Split(below, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("look at %s: %w: %w", at, publish.ErrStatement, err)
		}
		if !info.IsDir() {
			return "", fmt.Errorf("look at %s: %w: it is no directory", at, publish.ErrSchema)
		}
	}
	return filepath.Join(w.root, below), nil
}

// stagingPath is the file that remembers a staging table.
func (w *Warehouse) stagingPath(s publish.Staging) (string, error) {
	d, err := component("database", s.Database)
	if err != nil {
		return "", err
	}
	t, err := component("staging table", s.Table)
	if err != nil {
		return "", err
	}
	return filepath.Join(w.root, stagingDir, d+"."+t+".json"), nil
}

// uri names a directory as the stores do.
func uri(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}

// localDir is the directory that a location names.
func localDir(location string) (string, error) {
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "file" || u.Host != "" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
		return "", fmt.Errorf("location %s: %w: only files of this host, file:///..., can be published here", location, publish.ErrStatement)
	}
	return filepath.Clean(filepath.FromSlash(u.Path)), nil
}
