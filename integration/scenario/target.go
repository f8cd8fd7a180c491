package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// columns are the target's, as they should be.
var columns = []stage.Column{
	{Name: "seq", Source: "SEQ", Type: extract.Type{Kind: extract.Decimal, Precision: 10}},
	{Name: "insp_dt", Source: "INSP_DT", Type: extract.Type{Kind: extract.Timestamp}},
	{Name: "amount", Source: "AMOUNT", Type: extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}},
	{Name: "grade", Source: "GRADE", Type: extract.Type{Kind: extract.Text}},
	{Name: "note", Source: "NOTE", Type: extract.Type{Kind: extract.Text}},
	{Name: "created_at", Source: "CREATED_AT", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}},
	{Name: "inspector", Source: "INSPECTOR", Type: extract.Type{Kind: extract.Text}},
	{Name: "ratio", Source: "RATIO", Type: extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}},
	{Name: "closed_at", Source: "CLOSED_AT", Type: extract.Type{Kind: extract.Timestamp}},
}

// StagedColumns are the columns of staged files and target.
func StagedColumns() []stage.Column { return append([]stage.Column(nil), columns...) }

// TargetDir is the directory of the target's partition, where the warehouse is one of files.
func (w *World) TargetDir() string { return filepath.Join(w.TableDir("insp_dtl"), "load_date="+Date) }

// TableDir is the directory of a table of the database lake, where the warehouse is one of files.
func (w *World) TableDir(table string) string { return w.path("warehouse", "lake.db", table) }

// TargetLines reads the target's partition, in the form of Image: through Hive, or from the files themselves.
func (w *World) TargetLines(ctx context.Context) (lines []string, err error) {
	if w.Stack != nil {
		lines, err = w.hiveLines(ctx)
	} else {
		return w.TableLines("insp_dtl")
	}
	slices.Sort(lines)
	return lines, err
}

// TableLines reads the scenario's partition of any table of the database lake from its files, in the form of Image.
func (w *World) TableLines(table string) ([]string, error) {
	lines, err := fileLines(filepath.Join(w.TableDir(table), "load_date="+Date))
	slices.Sort(lines)
	return lines, err
}

func (w *World) hiveLines(ctx context.Context) ([]string, error) {
	rows, err := w.Hive(ctx, fmt.Sprintf("SELECT %s FROM %s WHERE load_date = '%s'", strings.ToLower(strings.Join(Columns, ", ")), w.Target(), Date))
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = Line(row)
	}
	return lines, nil
}

func fileLines(dir string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, name := range names {
		more, err := readLines(name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		lines = append(lines, more...)
	}
	return lines, nil
}

func readLines(name string) (lines []string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := parquet.NewReader(f, info.Size(), columns)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b := extract.NewBatch(stage.SourceColumns(columns), 4096, 4<<20)
	for {
		err := r.Next(b)
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Rows {
			lines = append(lines, line(b, i))
		}
	}
}

func line(b *extract.Batch, row int) string {
	values := make([]string, len(b.Cols))
	for c := range b.Cols {
		if values[c] = Null; !b.Cols[c].IsNull(row) {
			values[c] = string(b.Cols[c].AppendText(nil, row))
		}
	}
	return Line(values)
}

// Difference says where two images differ, or "" if they are equal. Both are sorted.
func Difference(want, got []string) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("row %d: want %s, got %s (%d and %d rows)", i, want[i], got[i], len(want), len(got))
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("want %d rows, got %d", len(want), len(got))
	}
	return ""
}
