package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/loadctl/loadctl/extract"
)

// Readback bounds VerifySealed.
type Readback struct {
	Format   Format
	Columns  []Column
	Parallel int // files read at once; 0: 1
	MaxRows  int // of a batch; 0: 8192
	MaxBytes int // of a batch; 0: 4 MiB
}

// VerifySealed reads every sealed chunk back and compares its rows and content with the ledger's. A difference is
// ErrMismatch, naming the file and both values; so is a directory that CheckSealed refuses. The first fault found
// ends it.
func VerifySealed(ctx context.Context, s Store, l Layout, m Manifest, r Readback) error {
	if err := CheckSealed(ctx, s, l, m); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(r.Parallel, 1))
	for _, c := range m.Chunks {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.verify(ctx, s, l.Sealed(c), c); err != nil {
				return fmt.Errorf("verify %s: %w", l.Sealed(c), err)
			}
			return nil
		})
	}
	return g.Wait()
}

func (r Readback) verify(ctx context.Context, s Store, name string, c Chunk) (err error) {
	want, err := extract.ParseDigest(c.Digest)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrMismatch)
	}
	f, err := s.Open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Size() != c.Bytes {
		return fmt.Errorf("%d bytes, %d by the ledger: %w", f.Size(), c.Bytes, ErrMismatch)
	}
	got, err := r.digest(ctx, f)
	if err != nil {
		return err
	}
	if got.Rows != uint64(c.Rows) {
		return fmt.Errorf("%d rows, %d by the ledger: %w", got.Rows, c.Rows, ErrMismatch)
	}
	if !got.Equal(want) {
		return fmt.Errorf("%s: content %s, %s by the ledger: %w",
			strings.Join(got.Differences(want, SourceColumns(r.Columns)), ", "), got, want, ErrMismatch)
	}
	return nil
}

// digest reads a whole file.
func (r Readback) digest(ctx context.Context, f Content) (d extract.Digest, err error) {
	in, err := r.Format.Reader(f, f.Size(), r.Columns)
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	cols := SourceColumns(r.Columns)
	b := extract.NewBatch(cols, orDefault(r.MaxRows, 8192), orDefault(r.MaxBytes, 4<<20))
	digest := extract.NewDigester(cols)
	for {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		err := in.Next(b)
		if errors.Is(err, io.EOF) {
			return digest.Digest(), nil
		}
		if err != nil {
			return d, err
		}
		digest.Add(b)
	}
}

func orDefault(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}
