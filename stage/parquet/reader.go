package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

const (
	// readStep is how many rows a Reader adds to a batch before it looks at the batch's limits.
	readStep = 1024
	// What is read of all columns at once, and of each: few large reads, for a store that connects anew for each
	// place, and a bound that a table of a thousand columns keeps.
	readBytes    = 16 << 20
	minReadBytes = 32 << 10
	maxReadBytes = 1 << 20
)

// Reader reads one file, column by column. It is used by one goroutine.
type Reader struct {
	source  *source
	file    *pq.File
	columns []*columnReader
	group   int   // next row group
	left    int64 // rows left in the row group at hand
	rows    int64 // rows read
	err     error // of the first failure
}

// NewReader opens a file, which must have exactly these columns, in any order, in the profile of this package.
// Anything else is stage.ErrMismatch, naming the column: a missing column must not read as NULL.
func NewReader(r io.ReaderAt, size int64, cols []stage.Column) (*Reader, error) {
	out, err := newReader(r, size, cols)
	if err != nil {
		return nil, fmt.Errorf("open parquet file: %w", err)
	}
	return out, nil
}

func newReader(r io.ReaderAt, size int64, cols []stage.Column) (*Reader, error) {
	from := &source{ReaderAt: r}
	file, err := openFile(from, size, len(cols))
	if err != nil {
		return nil, err
	}
	if err := checkZone(file); err != nil {
		return nil, err
	}
	calendar, err := calendarOf(file.Lookup(calendarKey))
	if err != nil {
		return nil, err
	}
	out := &Reader{source: from, file: file}
	var faults []error
	byName := make(map[string]*pq.Column)
	for _, c := range file.Root().Columns() {
		byName[c.Name()] = c
	}
	for _, c := range cols {
		leaf := byName[c.Name]
		delete(byName, c.Name)
		column, err := newColumnReader(c, leaf, calendar)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out.columns = append(out.columns, column)
	}
	for name := range byName {
		faults = append(faults, fmt.Errorf("column %q is in the file and not in the plan: %w", name, stage.ErrMismatch))
	}
	return out, errors.Join(faults...)
}

// source tells faults of the store from faults of the file: the first pass through as they are.
type source struct {
	io.ReaderAt
	err error
}

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.ReaderAt.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// blame adds ErrMismatch to an error of decoding, unless the store could not be read.
func (s *source) blame(err error) error {
	if err == nil || s.err != nil || errors.Is(err, stage.ErrMismatch) {
		return err
	}
	return fmt.Errorf("%w: %w", stage.ErrMismatch, err)
}

func openFile(r *source, size int64, columns int) (file *pq.File, err error) {
	defer recoverTo(&err)
	buffer := min(max(readBytes/max(columns, 1), minReadBytes), maxReadBytes)
	file, err = pq.OpenFile(r, size, pq.SkipPageIndex(true), pq.SkipBloomFilters(true), pq.ReadBufferSize(buffer))
	return file, r.blame(err)
}

// recoverTo turns a panic into an error: parquet-go has some on damaged files.
func recoverTo(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: damaged file: %v", stage.ErrMismatch, p)
	}
}

// checkZone refuses a file whose timestamps were shifted to UTC by whoever wrote it, as Hive does.
func checkZone(file *pq.File) error {
	if by := file.Metadata().CreatedBy; strings.HasPrefix(by, "parquet-mr") {
		return fmt.Errorf("it was written by %q, whose timestamps are shifted: %w", by, stage.ErrMismatch)
	}
	if zone, ok := file.Lookup(timeZoneKey); ok && zone != "UTC" {
		return fmt.Errorf("its timestamps were shifted from zone %s: %w", zone, stage.ErrMismatch)
	}
	return nil
}

// Next fills b with at least one row, or returns io.EOF when every row that the footer promises has been read.
func (r *Reader) Next(b *extract.Batch) error {
	if r.err != nil {
		return r.err
	}
	b.Reset()
	r.err = r.next(b)
	if r.err != nil && r.err != io.EOF {
		r.err = fmt.Errorf("read parquet file at row %d: %w", r.rows, r.err)
	}
	return r.err
}

func (r *Reader) next(b *extract.Batch) error {
	if len(b.Cols) != len(r.columns) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Cols), len(r.columns))
	}
	for !b.Full() {
		if r.left == 0 {
			more, err := r.nextGroup()
			if err != nil {
				return err
			}
			if !more {
				break
			}
			continue
		}
		if err := r.step(b); err != nil {
			return err
		}
		if b.MaxRows <= 0 && b.MaxBytes <= 0 { // no limit: a step is enough
			return nil
		}
	}
	if b.Rows > 0 {
		return nil
	}
	if want := r.file.NumRows(); r.rows != want {
		return fmt.Errorf("%d rows by the footer: %w", want, stage.ErrMismatch)
	}
	return io.EOF
}

// step reads some rows of every column.
func (r *Reader) step(b *extract.Batch) error {
	n := int(min(r.left, readStep))
	if b.MaxRows > 0 {
		n = min(n, b.MaxRows-b.Rows)
	}
	for i, c := range r.columns {
		if err := c.read(&b.Cols[i], n); err != nil {
			return fmt.Errorf("column %q: %w", c.name, r.source.blame(err))
		}
	}
	b.Rows += n
	r.left -= int64(n)
	r.rows += int64(n)
	return nil
}

// nextGroup goes to the next row group that has rows.
func (r *Reader) nextGroup() (bool, error) {
	groups := r.file.RowGroups()
	for r.left == 0 {
		if err := r.closeColumns(); err != nil {
			return false, err
		}
		if r.group == len(groups) {
			return false, nil
		}
		group := groups[r.group]
		r.group++
		r.left = group.NumRows()
		for _, c := range r.columns {
			c.open(group.ColumnChunks()[c.leaf])
		}
	}
	return true, nil
}

func (r *Reader) closeColumns() error {
	var errs []error
	for _, c := range r.columns {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// Close gives back the reader's buffers, not the file below it.
func (r *Reader) Close() error { return r.closeColumns() }
