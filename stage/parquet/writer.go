package parquet

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// stepRows is how many rows of all columns are encoded before the row group's limits are looked at: few enough that
// they stay in the cache, enough that nothing is lost between columns.
const stepRows = 4096

// Writer writes one file. It is used by one goroutine.
//
// A batch goes, a step of rows at a time, through the columns: each appends to its page at hand, and compresses a page
// that is full into the chunk's blocks. When these reach the row group's limit, it is written out. Memory is made for
// pages and row groups and used again; none is made for rows.
type Writer struct {
	opt      Options
	limits   limits
	out      sink
	pager    *pager
	pool     *pool
	schema   []format.SchemaElement
	columns  []*column
	rowWidth int    // bytes of all columns of fixed width
	texts    []byte // of a dictionary page

	groups  []format.RowGroup // written
	rows    int64             // in them
	grouped int64             // rows in the row group at hand
	err     error             // of the first failure: the file is worth nothing after it
}

// NewWriter begins a file with these columns.
func NewWriter(w io.Writer, cols []stage.Column, opt Options) (*Writer, error) {
	out, err := newWriter(w, cols, opt)
	if err != nil {
		return nil, fmt.Errorf("begin parquet file: %w", err)
	}
	return out, nil
}

func newWriter(w io.Writer, cols []stage.Column, opt Options) (*Writer, error) {
	schema, err := newSchema(cols, opt.Timestamps)
	if err != nil {
		return nil, err
	}
	texts := 0
	for _, c := range cols {
		if c.Type.Kind == extract.Text {
			texts++
		}
	}
	out := &Writer{opt: opt, limits: opt.limits(len(cols), texts), out: sink{w: w}, schema: schema}
	out.pool = &pool{size: out.limits.page}
	if out.pager, err = newPager(opt.Codec, out.limits.page); err != nil {
		return nil, err
	}
	for _, c := range cols {
		column := newColumn(c, opt, out.limits, out.pool)
		out.columns = append(out.columns, column)
		out.rowWidth += column.width
	}
	_, err = io.WriteString(&out.out, magic)
	return out, err
}

// Write adds the rows of a batch. A value that its column's type, or the file's form of it, cannot hold is
// extract.ErrValue.
func (w *Writer) Write(b *extract.Batch) error {
	if w.err != nil {
		return w.err
	}
	if w.err = w.write(b); w.err != nil {
		w.err = fmt.Errorf("write parquet file: %w", w.err)
	}
	return w.err
}

func (w *Writer) write(b *extract.Batch) error {
	if len(b.Cols) != len(w.columns) {
		return fmt.Errorf("a batch of %d columns for a file of %d", len(b.Cols), len(w.columns))
	}
	for i, c := range w.columns {
		if err := c.check(&b.Cols[i], b.Rows); err != nil {
			return err
		}
	}
	for from := 0; from < b.Rows; {
		to := w.step(b, from)
		for i, c := range w.columns {
			if err := c.write(&b.Cols[i], from, to, w.pager); err != nil {
				return err
			}
		}
		w.grouped += int64(to - from)
		from = to
		if w.grouped < w.limits.groupRows && w.held() < w.limits.groupBytes {
			continue
		}
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// step is the end of the step that begins at from: a row at least, and otherwise no more than a quarter of a row group.
func (w *Writer) step(b *extract.Batch, from int) int {
	rows := int(min(int64(b.Rows-from), stepRows, w.limits.groupRows-w.grouped))
	for rows > 1 && w.size(b, from, from+rows) > w.limits.groupBytes/4 {
		rows /= 2
	}
	return from + rows
}

// size is how many bytes some rows are.
func (w *Writer) size(b *extract.Batch, from, to int) int64 {
	n := int64(w.rowWidth) * int64(to-from)
	for i, c := range w.columns {
		if v := &b.Cols[i]; c.width == 0 {
			n += int64(v.End[to-1] - startOf(v, from))
		}
	}
	return n
}

// held is about how much memory the row group at hand takes.
func (w *Writer) held() int64 {
	var n int64
	for _, c := range w.columns {
		n += c.held()
	}
	return n
}

// Size is about how many bytes the file would have if it were closed now, its footer aside: what is written, what is
// compressed, and an estimate of what is not yet.
func (w *Writer) Size() int64 {
	n, pending := w.out.written, int64(0)
	for _, c := range w.columns {
		n += c.chunk.blocks.size
		pending += int64(c.pending())
		if c.dict != nil {
			pending += int64(c.dict.plainSize())
		}
	}
	return n + w.pager.estimate(pending)
}

// Close ends the file and returns its rows.
func (w *Writer) Close() (rows int64, err error) {
	if w.err != nil {
		return 0, w.err
	}
	if w.err = w.close(); w.err != nil {
		w.err = fmt.Errorf("close parquet file: %w", w.err)
		return 0, w.err
	}
	w.err = fmt.Errorf("write parquet file: %w", io.ErrClosedPipe)
	return w.rows, nil
}

func (w *Writer) close() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.writeFooter()
}

// Format is the file format with its options, as a port.
type Format struct{ Options Options }

var _ stage.Format = Format{}

// Writer begins a file.
func (f Format) Writer(w io.Writer, cols []stage.Column) (stage.RowWriter, error) {
	return NewWriter(w, cols, f.Options)
}

// Reader reads a file.
func (f Format) Reader(r io.ReaderAt, size int64, cols []stage.Column) (stage.RowReader, error) {
	return NewReader(r, size, cols)
}
