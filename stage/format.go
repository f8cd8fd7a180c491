package stage

import (
	"io"

	"github.com/loadctl/loadctl/extract"
)

// Format is a file format: stage/parquet implements it. It knows no store.
type Format interface {
	// Writer begins a file.
	Writer(w io.Writer, cols []Column) (RowWriter, error)
	// Reader reads a file that must have exactly these columns, in any order.
	Reader(r io.ReaderAt, size int64, cols []Column) (RowReader, error)
}

// RowWriter writes one file. It is used by one goroutine.
type RowWriter interface {
	// Write adds the rows of a batch, which the caller may reuse afterwards.
	Write(b *extract.Batch) error
	// Size is about how many bytes the file would have if it were closed now.
	Size() int64
	// Close ends the file, not the io.Writer below it, and returns its rows.
	Close() (rows int64, err error)
}

// RowReader reads one file. It is used by one goroutine.
type RowReader interface {
	// Next fills b, which it resets first, with at least one row, or returns io.EOF. b must have been made for
	// the columns' types, in their order; it stops at b's own limits.
	Next(b *extract.Batch) error
	Close() error
}

// SourceColumns are the columns as batches, digests and metrics know them.
func SourceColumns(cols []Column) []extract.Column {
	out := make([]extract.Column, len(cols))
	for i, c := range cols {
		out[i] = extract.Column{Name: c.Source, Type: c.Type, Nullable: true}
	}
	return out
}
