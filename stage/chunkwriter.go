package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/loadctl/loadctl/extract"
)

// Cut says how the rows of one attempt become chunks.
type Cut struct {
	Store     Store
	Layout    Layout
	Format    Format
	Columns   []Column
	Partition int
	Token     string // of the claim: names the attempt's directory

	MaxRows     int64 // a chunk has at most so many rows, unless one batch has more; 0: no limit
	TargetBytes int64 // a chunk ends with the batch that takes it to so many bytes, about; 0: no limit

	// Report is told of every chunk once it is durable, in order, before the next one begins. Its error ends
	// the attempt.
	Report func(context.Context, Chunk) error
}

// ChunkWriter cuts a stream of batches into chunks in an attempt's directory. It is used by one goroutine, for one
// attempt; after any error that attempt is over, and what is left of it has no name in the ledger.
type ChunkWriter struct {
	cut    Cut
	dir    string
	digest *extract.Digester
	index  int
	rows   int64 // of all chunks closed so far
	chunk  *openChunk
	err    error
}

// openChunk is the chunk at hand.
type openChunk struct {
	path string
	file File
	out  countingWriter
	w    RowWriter
	rows int64
}

// countingWriter knows the length that a file must have.
type countingWriter struct {
	w io.Writer
	n int64
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// NewChunkWriter begins an attempt: the directory of the run's attempts says whose it is before it holds any data.
func NewChunkWriter(ctx context.Context, cut Cut) (*ChunkWriter, error) {
	dir, err := cut.Layout.AttemptDir(cut.Partition, cut.Token)
	if err != nil {
		return nil, fmt.Errorf("begin attempt: %w", err)
	}
	if err := Own(ctx, cut.Store, cut.Layout, cut.Layout.AttemptsDir()); err != nil {
		return nil, fmt.Errorf("begin attempt: %w", err)
	}
	return &ChunkWriter{cut: cut, dir: dir, digest: extract.NewDigester(SourceColumns(cut.Columns))}, nil
}

// Write adds the rows of a batch, which the caller may reuse afterwards.
func (w *ChunkWriter) Write(ctx context.Context, b *extract.Batch) error {
	if w.err == nil {
		w.err = w.write(ctx, b)
	}
	return w.err
}

func (w *ChunkWriter) write(ctx context.Context, b *extract.Batch) error {
	if b.Rows == 0 {
		return nil
	}
	if w.chunk != nil && w.cut.MaxRows > 0 && w.chunk.rows+int64(b.Rows) > w.cut.MaxRows {
		if err := w.end(ctx); err != nil {
			return err
		}
	}
	if w.chunk == nil {
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	c := w.chunk
	if err := c.w.Write(b); err != nil {
		return fmt.Errorf("write chunk %s: %w", c.path, err)
	}
	w.digest.Add(b)
	c.rows += int64(b.Rows)
	full := w.cut.MaxRows > 0 && c.rows >= w.cut.MaxRows || w.cut.TargetBytes > 0 && c.w.Size() >= w.cut.TargetBytes
	if !full {
		return nil
	}
	return w.end(ctx)
}

func (w *ChunkWriter) begin(ctx context.Context) error {
	c := &openChunk{path: path.Join(w.dir, ChunkName(w.cut.Partition, w.index))}
	file, err := w.cut.Store.Create(ctx, c.path)
	if err != nil {
		return err
	}
	c.file, c.out.w = file, file
	if c.w, err = w.cut.Format.Writer(&c.out, w.cut.Columns); err != nil {
		return errors.Join(fmt.Errorf("write chunk %s: %w", c.path, err), file.Abort())
	}
	w.digest.Reset()
	w.chunk = c
	return nil
}

// end closes the chunk at hand, looks whether the store has all of it, and reports it.
func (w *ChunkWriter) end(ctx context.Context) error {
	c := w.chunk
	rows, err := c.w.Close()
	if err != nil {
		return fmt.Errorf("write chunk %s: %w", c.path, err)
	}
	if rows != c.rows {
		return fmt.Errorf("write chunk %s: the file has %d rows, %d were written: %w", c.path, rows, c.rows, ErrMismatch)
	}
	w.chunk = nil
	if err := c.file.Close(); err != nil {
		return fmt.Errorf("close chunk %s: %w", c.path, err)
	}
	info, err := w.cut.Store.Stat(ctx, c.path)
	if err != nil {
		return fmt.Errorf("check chunk %s: %w", c.path, err)
	}
	if info.Size != c.out.n {
		return fmt.Errorf("check chunk %s: the store has %d bytes, %d were written: %w", c.path, info.Size, c.out.n, ErrMismatch)
	}
	done := Chunk{
		Partition: w.cut.Partition, Index: w.index, Path: c.path,
		Rows: rows, Bytes: info.Size, Digest: w.digest.Digest().String(),
	}
	if err := w.cut.Report(ctx, done); err != nil {
		return fmt.Errorf("report chunk %s: %w", c.path, err)
	}
	w.index++
	w.rows += rows
	return nil
}

// Close ends the last chunk and tells how many chunks and rows the attempt has. No rows make no chunk.
func (w *ChunkWriter) Close(ctx context.Context) (chunks int, rows int64, err error) {
	if w.err == nil && w.chunk != nil {
		w.err = w.end(ctx)
	}
	if w.err != nil {
		return 0, 0, w.err
	}
	w.err = errors.New("write chunk: the attempt is closed")
	return w.index, w.rows, nil
}

// Abort gives up the chunk at hand. It is for any end but a Close that returned nil, after which it does nothing.
func (w *ChunkWriter) Abort() error {
	if w.err == nil {
		w.err = errors.New("write chunk: the attempt was given up")
	}
	if w.chunk == nil {
		return nil
	}
	file := w.chunk.file
	w.chunk = nil
	return file.Abort()
}
