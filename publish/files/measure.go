package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Limits of the batch that files are read in.
const (
	batchRows  = 8192
	batchBytes = 8 << 20
)

// Measure reads every file of the scope. Checksum is a column's sum of an order-independent digest.
func (w *Warehouse) Measure(ctx context.Context, in publish.Scope, ms []extract.Measure) ([]extract.Metric, error) {
	dir, cols, err := w.scope(in)
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	files, err := dataFiles(ctx, dir)
	if err != nil && !(errors.Is(err, fs.ErrNotExist) && in.Target != nil) { // a partition that is not there has no rows
		return nil, fmt.Errorf("measure: %w: %w", publish.ErrStatement, err)
	}
	out, err := w.measure(ctx, files, cols, ms)
	if err != nil {
		return nil, fmt.Errorf("measure %s: %w", dir, err)
	}
	return out, nil
}

// scope finds the directory and columns of what is to be measured.
func (w *Warehouse) scope(in publish.Scope) (dir string, cols []stage.Column, err error) {
	switch {
	case in.Staging != nil && in.Target == nil:
		if err := w.checkStaging(*in.Staging); err != nil {
			return "", nil, err
		}
		dir, err = localDir(in.Staging.Location)
		return dir, in.Staging.Columns, err
	case in.Target != nil && in.Staging == nil:
		if err := w.checkTable(*in.Target); err != nil {
			return "", nil, err
		}
		dir, err = w.dataPath(*in.Target)
		return dir, in.Target.Columns, err
	}
	return "", nil, errors.New("a scope names either a staging table or a target")
}

func (w *Warehouse) measure(ctx context.Context, files []string, cols []stage.Column, ms []extract.Measure) ([]extract.Metric, error) {
	source := stage.SourceColumns(cols)
	plain, sums := divide(ms)
	tally, err := extract.NewTally(source, plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", publish.ErrStatement, err)
	}
	digester := extract.NewDigester(source)
	batch := extract.NewBatch(source, batchRows, batchBytes)
	for _, f := range files {
		err := w.scan(ctx, f, cols, batch, func() {
			tally.Add(batch)
			if len(sums) > 0 {
				digester.Add(batch)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return weave(ms, tally.Metrics(), source, digester.Digest())
}

// scan reads one file batch by batch.
func (w *Warehouse) scan(ctx context.Context, file string, cols []stage.Column, b *extract.Batch, each func()) (err error) {
	fail := func(err error) error {
		return fmt.Errorf("read %s: %w: %w", filepath.Base(file), publish.ErrStatement, err)
	}
	f, err := os.Open(file)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fail(err)
	}
	r, err := w.cfg.Format.Reader(f, info.Size(), cols)
	if err != nil {
		return fail(err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := r.Next(b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fail(err)
		}
		each()
	}
}

// divide parts the checksums, which a tally does not know, from the other measures.
func divide(ms []extract.Measure) (plain, sums []extract.Measure) {
	for _, m := range ms {
		if m.What == extract.Checksum {
			sums = append(sums, m)
		} else {
			plain = append(plain, m)
		}
	}
	return plain, sums
}

// weave puts tallied values and checksums in the order of ms.
func weave(ms []extract.Measure, tallied []extract.Metric, cols []extract.Column, d extract.Digest) ([]extract.Metric, error) {
	out := make([]extract.Metric, 0, len(ms))
	for _, m := range ms {
		if m.What != extract.Checksum {
			out = append(out, tallied[0])
			tallied = tallied[1:]
			continue
		}
		i := slices.IndexFunc(cols, func(c extract.Column) bool { return c.Name == m.Column })
		if i < 0 {
			return nil, fmt.Errorf("measure %s of %q: %w: no such column", m.What, m.Column, publish.ErrStatement)
		}
		out = append(out, extract.Metric{Column: m.Column, What: m.What, Value: columnSum(d, i)})
	}
	return out, nil
}

// columnSum is a column's part of a digest; of no rows there are no columns yet.
func columnSum(d extract.Digest, i int) string {
	if i >= len(d.Columns) {
		return "0"
	}
	return strconv.FormatUint(d.Columns[i], 10)
}
