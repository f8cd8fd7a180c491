package hive

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Lister lists a directory of the file system that the tables are on; its paths are relative to "/". A stage.Store
// whose root is "/" is one, whose user may list the tables' directories: the NameNode's fileId tells a file from
// another of the same name.
type Lister interface {
	List(ctx context.Context, dir string) ([]stage.Info, error)
}

// list finds every file below a location that Hive reads: names that begin with "_" or "." are left out, and
// whatever is in directories of such names.
func list(ctx context.Context, l Lister, location string) ([]publish.FileEvidence, error) {
	scheme, _, dir := splitLocation(location)
	if scheme != "hdfs" && scheme != "" {
		return nil, fmt.Errorf("%w: tables on %s are not published to yet", publish.ErrSchema, scheme)
	}
	var out []publish.FileEvidence
	if err := walk(ctx, l, strings.TrimPrefix(path.Clean(dir), "/"), &out); err != nil {
		return nil, err
	}
	slices.SortFunc(out, func(a, b publish.FileEvidence) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func walk(ctx context.Context, l Lister, dir string, out *[]publish.FileEvidence) error {
	entries, err := l.List(ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if name := path.Base(e.Path); name[0] == '_' || name[0] == '.' {
			continue
		}
		if e.Dir {
			if err := walk(ctx, l, e.Path, out); err != nil {
				return err
			}
			continue
		}
		*out = append(*out, publish.FileEvidence{Path: "/" + e.Path, ID: e.ID, Size: e.Size, ModTime: e.ModTime})
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
