package files

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Config says where the warehouse is.
type Config struct {
	Root     string       // made if it is not there
	Format   stage.Format // of the staged files, which are published as they are
	FileMode fs.FileMode  // 0: 0640
	DirMode  fs.FileMode  // 0: 0750

	// KeepReplaced is how long replaced files are kept, out of the way, for readers that are in the middle of
	// them. Default 10 minutes; the next publish after that removes them.
	KeepReplaced time.Duration
}

// Warehouse is a publish.Warehouse.
type Warehouse struct {
	cfg  Config
	root string // absolute, without symbolic links
}

var _ publish.Warehouse = (*Warehouse)(nil)

// New opens the warehouse, making its root directory if it is not there.
func New(cfg Config) (*Warehouse, error) {
	if cfg.Root == "" || cfg.Format == nil {
		return nil, errors.New("open files warehouse: root directory and file format must be given")
	}
	if cfg.FileMode == 0 {
		cfg.FileMode = 0o640
	}
	if cfg.DirMode == 0 {
		cfg.DirMode = 0o750
	}
	if cfg.KeepReplaced == 0 {
		cfg.KeepReplaced = 10 * time.Minute
	}
	root, err := filepath.Abs(cfg.Root)
	if err != nil {
		return nil, fmt.Errorf("open files warehouse %s: %w", cfg.Root, err)
	}
	if err := makeDir(root, cfg.DirMode); err != nil {
		return nil, fmt.Errorf("open files warehouse: %w", err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, fmt.Errorf("open files warehouse: %w", err)
	}
	return &Warehouse{cfg: cfg, root: root}, nil
}

// Close has nothing to close.
func (w *Warehouse) Close() error { return nil }

// Identity is host and directory: the same path of another host is another warehouse.
func (w *Warehouse) Identity(context.Context) (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("identify the files warehouse: %w", err)
	}
	return "file://" + host + filepath.ToSlash(w.root), nil
}

// Inspect implements publish.Warehouse.
func (w *Warehouse) Inspect(_ context.Context, t publish.Target) (publish.State, error) {
	dir, err := w.tablePath(t.Database, t.Table)
	if err != nil {
		return publish.State{}, fmt.Errorf("inspect: %w", err)
	}
	s, err := readSchema(dir)
	if errors.Is(err, publish.ErrNoTarget) {
		return publish.State{}, nil
	}
	state := publish.State{Exists: true, Location: uri(dir), Detail: "directory of parquet files"}
	if err != nil {
		return state, fmt.Errorf("inspect: %w", err)
	}
	return state, publish.SchemaError(t.Database, t.Table, s.differences(t))
}

// Create implements publish.Warehouse. The database's directory is made with the table's.
func (w *Warehouse) Create(_ context.Context, t publish.Target) error {
	fail := func(err error) error {
		return fmt.Errorf("create table %s.%s: %w", t.Database, t.Table, err)
	}
	dir, err := w.tablePath(t.Database, t.Table)
	if err != nil {
		return fail(err)
	}
	if _, err := readSchema(dir); !errors.Is(err, publish.ErrNoTarget) {
		return err // nil: it is there
	}
	if err := w.create(t, dir); err != nil {
		return fail(fmt.Errorf("%w: %w", publish.ErrStatement, err))
	}
	return nil
}

// create makes the table's directory with its schema in one step: elsewhere, then moved.
func (w *Warehouse) create(t publish.Target, dir string) error {
	data, err := json.MarshalIndent(schemaOf(t), "", "  ")
	if err != nil {
		return err
	}
	draft := filepath.Join(w.root, tmpDir, rand.Text())
	for _, d := range []string{filepath.Dir(dir), draft} {
		if err := makeDir(d, w.cfg.DirMode); err != nil {
			return err
		}
	}
	defer os.RemoveAll(draft)
	if err := writeFile(filepath.Join(draft, schemaFile), strings.NewReader(string(data)+"\n"), w.cfg.FileMode); err != nil {
		return err
	}
	if err := syncDir(draft); err != nil {
		return err
	}
	// a directory with something in it is never replaced by a rename: whoever comes second finds the first one's
	if err := os.Rename(draft, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// Stage remembers the staging table in a file. Its location must be there.
func (w *Warehouse) Stage(_ context.Context, s publish.Staging) error {
	fail := func(err error) error {
		return fmt.Errorf("create staging table %s.%s: %w", s.Database, s.Table, err)
	}
	file, err := w.stagingPath(s)
	if err != nil {
		return fail(err)
	}
	dir, err := localDir(s.Location)
	if err != nil {
		return fail(err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fail(fmt.Errorf("%w: there is no directory %s", publish.ErrStatement, dir))
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fail(err)
	}
	for _, d := range []string{filepath.Dir(file), filepath.Join(w.root, tmpDir)} {
		if err := makeDir(d, w.cfg.DirMode); err != nil {
			return fail(fmt.Errorf("%w: %w", publish.ErrStatement, err))
		}
	}
	err = writeNew(filepath.Join(w.root, tmpDir, rand.Text()), file, data, w.cfg.FileMode)
	if errors.Is(err, fs.ErrExist) {
		return w.checkStaging(s)
	}
	if err != nil {
		return fail(fmt.Errorf("%w: %w", publish.ErrStatement, err))
	}
	return nil
}

// Unstage forgets the staging table.
func (w *Warehouse) Unstage(_ context.Context, s publish.Staging) error {
	file, err := w.stagingPath(s)
	if err != nil {
		return fmt.Errorf("drop staging table: %w", err)
	}
	have, err := readStaging(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		if err := publish.SchemaError(s.Database, s.Table, stagingDifferences(have, s)); err != nil {
			return fmt.Errorf("drop staging table: %w", err)
		}
		err = os.Remove(file)
	}
	if err != nil {
		return fmt.Errorf("drop staging table %s.%s: %w: %w", s.Database, s.Table, publish.ErrStatement, err)
	}
	return nil
}

// Observe implements publish.Warehouse. LastDDL is the inode of the partition's directory, which every publish
// replaces.
func (w *Warehouse) Observe(ctx context.Context, t publish.Target) (publish.Evidence, error) {
	e := publish.Evidence{At: time.Now()}
	fail := func(err error) (publish.Evidence, error) {
		return e, fmt.Errorf("observe %s.%s: %w", t.Database, t.Table, err)
	}
	if err := w.checkTable(t); err != nil {
		return fail(err)
	}
	dir, err := w.dataPath(t)
	if err != nil {
		return fail(err)
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return fail(fmt.Errorf("%w: %w", publish.ErrStatement, err))
	}
	e.Location, e.LastDDL = uri(dir), fmt.Sprint(inode(info))
	files, err := dataFiles(ctx, dir)
	if err != nil {
		return fail(fmt.Errorf("%w: %w", publish.ErrStatement, err))
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return fail(fmt.Errorf("%w: %w", publish.ErrStatement, err))
		}
		e.Files = append(e.Files, publish.FileEvidence{Path: f, ID: inode(info), Size: info.Size(), ModTime: info.ModTime()})
	}
	e.Rows, err = w.count(ctx, files, t.Columns)
	if err != nil {
		return fail(err)
	}
	return e, nil
}

func (w *Warehouse) count(ctx context.Context, files []string, cols []stage.Column) (int64, error) {
	rows := int64(0)
	batch := extract.NewBatch(stage.SourceColumns(cols), batchRows, batchBytes)
	for _, f := range files {
		if err := w.scan(ctx, f, cols, batch, func() { rows += int64(batch.Rows) }); err != nil {
			return 0, err
		}
	}
	return rows, nil
}

// Statements tells in words what would be done: there is no language to write it in.
func (w *Warehouse) Statements(p publish.Publication, ms []extract.Measure, create bool) []string {
	var out []string
	if create {
		dir, err := w.tablePath(p.Target.Database, p.Target.Table)
		if err != nil {
			dir = err.Error()
		}
		out = append(out, "make directory "+dir+" with "+schemaFile)
	}
	target, err := w.dataPath(p.Target)
	if err != nil {
		target = err.Error()
	}
	read := fmt.Sprintf("%d measures", len(ms))
	return append(out,
		"read "+read+" from the files in "+p.Staging.Location,
		"copy the files in "+p.Staging.Location+" to a new directory, and exchange it with "+target,
		"read "+read+" from the files in "+target)
}
