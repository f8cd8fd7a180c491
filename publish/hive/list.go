package hive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/colinmarc/hdfs/v2"

	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Lister lists every file below a location, which is written as the metastore writes it: scheme and authority,
// then a path in which nothing is escaped. A location that is not there is stage.ErrNotExist.
type Lister func(ctx context.Context, location string) ([]publish.FileEvidence, error)

// HDFSLister lists by the NameNode, whose fileId tells a file from another of the same name. The client must
// be of the cluster that the tables are on.
func HDFSLister(c *hdfs.Client) Lister {
	return func(ctx context.Context, location string) ([]publish.FileEvidence, error) {
		scheme, _, dir := splitLocation(location)
		if scheme != "hdfs" && scheme != "" {
			return nil, fmt.Errorf("list %s: only hdfs is listed yet", location)
		}
		var out []publish.FileEvidence
		err := walk(ctx, c, dir, &out)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: %w", stage.ErrNotExist, err)
		}
		slices.SortFunc(out, func(a, b publish.FileEvidence) int { return strings.Compare(a.Path, b.Path) })
		return out, err
	}
}

func walk(ctx context.Context, c *hdfs.Client, dir string, out *[]publish.FileEvidence) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	entries, err := c.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if e.IsDir() {
			if err := walk(ctx, c, name, out); err != nil {
				return err
			}
			continue
		}
		f := publish.FileEvidence{Path: name, Size: e.Size(), ModTime: e.ModTime()}
		if s, ok := e.Sys().(interface{ GetFileId() uint64 }); ok {
			f.ID = s.GetFileId()
		}
		*out = append(*out, f)
	}
	return nil
}

// splitLocation takes a location apart without unescaping anything: "%2F" in a partition's directory is a name.
func splitLocation(location string) (scheme, authority, dir string) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return "", "", location
	}
	authority, dir, _ = strings.Cut(rest, "/")
	return scheme, authority, "/" + dir
}

// sameLocation compares paths only: the metastore completes scheme and authority in its own way.
func sameLocation(a, b string) bool {
	_, _, x := splitLocation(a)
	_, _, y := splitLocation(b)
	return path.Clean(x) == path.Clean(y)
}

// visible leaves out what Hive does not read: names below the location that begin with "_" or ".".
func visible(location string, files []publish.FileEvidence) []publish.FileEvidence {
	_, _, dir := splitLocation(location)
	return slices.DeleteFunc(files, func(f publish.FileEvidence) bool {
		below := strings.TrimPrefix(f.Path, strings.TrimSuffix(dir, "/")+"/")
		for _, name := range strings.Split(below, "/") {
			if strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".") {
				return true
			}
		}
		return false
	})
}
