package stage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
	"github.com/loadctl/loadctl/stage/stagetest"
)

var twoColumns = []stage.Column{
	{Name: "seq", Source: "SEQ", Type: extract.Type{Kind: extract.Decimal, Precision: 10}},
	{Name: "note", Source: "NOTE", Type: extract.Type{Kind: extract.Text}},
}

// extraction writes rows 0..n-1 of a partition in batches, and collects what is reported.
func extraction(s stage.Store, l stage.Layout, token string, rows, batchRows int, change func(*stage.Cut)) ([]stage.Chunk, error) {
	ctx := context.Background()
	var chunks []stage.Chunk
	cut := stage.Cut{
		Store: s, Layout: l, Format: parquet.Format{}, Columns: twoColumns, Partition: 2, Token: token,
		Report: func(ctx context.Context, c stage.Chunk) error {
			if info, err := s.Stat(ctx, c.Path); err != nil || info.Size != c.Bytes {
				return fmt.Errorf("reported %+v before it is there: %+v, %w", c, info, err)
			}
			chunks = append(chunks, c)
			return nil
		},
	}
	if change != nil {
		change(&cut)
	}
	w, err := stage.NewChunkWriter(ctx, cut)
	if err != nil {
		return nil, err
	}
	b := extract.NewBatch(stage.SourceColumns(twoColumns), 0, 0)
	for n := range rows {
		b.Cols[0].AppendInt(int64(n))
		b.Cols[1].AppendString(strings.Repeat("x", n%50))
		if b.Rows++; b.Rows == batchRows || n == rows-1 {
			if err := w.Write(ctx, b); err != nil {
				return chunks, errors.Join(err, w.Abort())
			}
			b.Reset()
		}
	}
	n, total, err := w.Close(ctx)
	if err != nil {
		return chunks, errors.Join(err, w.Abort())
	}
	if n != len(chunks) || total != int64(rows) {
		return chunks, fmt.Errorf("closed with %d chunks and %d rows; %d were reported, %d written", n, total, len(chunks), rows)
	}
	return chunks, nil
}

func TestChunkWriterCuts(t *testing.T) {
	for _, tc := range []struct {
		name            string
		rows, batchRows int
		maxRows, bytes  int64
		want            []int64
	}{
		{"no rows, no chunk", 0, 10, 100, 0, nil},
		{"one chunk", 95, 10, 100, 0, []int64{95}},
		{"at most the rows allowed", 250, 30, 100, 0, []int64{90, 90, 70}},
		{"exactly full", 200, 50, 100, 0, []int64{100, 100}},
		{"a batch above the limit", 250, 120, 100, 0, []int64{120, 120, 10}},
		{"by bytes", 90, 30, 0, 1, []int64{30, 30, 30}},
		{"no limit", 90, 30, 0, 0, []int64{90}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, l := newStore(t), newLayout(t)
			chunks, err := extraction(s, l, "token", tc.rows, tc.batchRows, func(c *stage.Cut) { c.MaxRows, c.TargetBytes = tc.maxRows, tc.bytes })
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for i, c := range chunks {
				got = append(got, c.Rows)
				if want := fmt.Sprintf("INSP_DTL/.attempts/run_id=0198f2ab-run/2-token/part-00002-%05d.parquet", i); c.Path != want || c.Index != i || c.Partition != 2 {
					t.Errorf("chunk %d is %+v, want path %s", i, c, want)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("chunks of %v rows, want %v", got, tc.want)
			}
		})
	}
}

// Whatever fails, the chunks that were reported are whole, and a second attempt beside the first completes.
func TestChunkWriterCrashMatrix(t *testing.T) {
	l := newLayout(t)
	var chunks []stage.Chunk
	attempt := 0
	stagetest.Matrix(t, stagetest.Step{
		Prepare: func(t *testing.T) stage.Store { chunks = nil; return newStore(t) },
		Do: func(s stage.Store) (err error) {
			attempt++
			chunks, err = extraction(s, l, fmt.Sprintf("attempt%d", attempt), 90, 30, func(c *stage.Cut) { c.MaxRows = 60 })
			return err
		},
		Between: func(t *testing.T, s stage.Store) {
			for _, c := range chunks {
				if info, err := s.Stat(context.Background(), c.Path); err != nil || info.Size != c.Bytes {
					t.Errorf("reported %+v; the store has %+v, %v", c, info, err)
				}
			}
		},
		After: func(t *testing.T, s stage.Store) { sealAndVerify(t, s, l, chunks) },
	})
}

func manifest(chunks []stage.Chunk) stage.Manifest {
	return stage.Manifest{Ledger: owner.Ledger, Run: owner.Run, Job: owner.Job, Chunks: chunks}
}

var readback = stage.Readback{Format: parquet.Format{}, Columns: twoColumns, Parallel: 2}

func sealAndVerify(t *testing.T, s stage.Store, l stage.Layout, chunks []stage.Chunk) {
	t.Helper()
	ctx := context.Background()
	if err := stage.Seal(ctx, s, l, manifest(chunks)); err != nil {
		t.Fatal(err)
	}
	if err := stage.VerifySealed(ctx, s, l, manifest(chunks), readback); err != nil {
		t.Fatal(err)
	}
}

func TestChunkWriterRefuses(t *testing.T) {
	s, l := newStore(t), newLayout(t)
	refused := errors.New("claim lost")
	_, err := extraction(s, l, "a", 90, 30, func(c *stage.Cut) {
		c.MaxRows = 30
		c.Report = func(context.Context, stage.Chunk) error { return refused }
	})
	if !errors.Is(err, refused) {
		t.Errorf("Report fails: got %v, want its error", err)
	}
	if got := names(t, s, l.AttemptsDir()+"/2-a"); got != "part-00002-00000.parquet" {
		t.Errorf("after the report failed the attempt holds %q, want the one chunk", got)
	}
	if _, err := extraction(s, l, "a", 10, 10, nil); !errors.Is(err, stage.ErrExist) {
		t.Errorf("the same attempt again: got %v, want ErrExist", err)
	}
	if _, err := extraction(s, l, "../x", 10, 10, nil); err == nil {
		t.Error("an unsafe token is accepted")
	}
	foreign, err := stage.NewLayout(stage.Owner{Ledger: "another", Run: owner.Run, Job: owner.Job})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := extraction(s, foreign, "b", 10, 10, nil); !errors.Is(err, stage.ErrMismatch) {
		t.Errorf("attempts of another ledger: got %v, want ErrMismatch", err)
	}
}

// Content that is not what the ledger says is found, whatever the difference, and both values are named.
func TestVerifySealedFindsDifference(t *testing.T) {
	ctx := context.Background()
	for _, tc := range []struct {
		name   string
		change func(cs []stage.Chunk)
		want   string
	}{
		{"value", func(cs []stage.Chunk) { cs[1].Digest = cs[0].Digest }, cs1Digest},
		{"rows", func(cs []stage.Chunk) { cs[1].Rows++ }, "30 rows, 31 by the ledger"},
		{"no digest", func(cs []stage.Chunk) { cs[1].Digest = "" }, "parse digest"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, l := newStore(t), newLayout(t)
			chunks, err := extraction(s, l, "token", 90, 30, func(c *stage.Cut) { c.MaxRows = 30 })
			if err != nil {
				t.Fatal(err)
			}
			sealAndVerify(t, s, l, chunks)
			tc.change(chunks)
			err = stage.VerifySealed(ctx, s, l, manifest(chunks), readback)
			if !errors.Is(err, stage.ErrMismatch) {
				t.Fatalf("got %v, want ErrMismatch", err)
			}
			for _, want := range []string{l.Sealed(chunks[1]), tc.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

const cs1Digest = `column "SEQ" has other values`

// One byte changed in a sealed file, its length kept, is found.
func TestVerifySealedFindsDamage(t *testing.T) {
	ctx := context.Background()
	s, l := newStore(t), newLayout(t)
	chunks, err := extraction(s, l, "token", 90, 30, nil)
	if err != nil {
		t.Fatal(err)
	}
	sealAndVerify(t, s, l, chunks)
	whole := get(t, s, l.Sealed(chunks[0]))
	for _, at := range []int{60, len(whole) / 2} {
		damaged := []byte(whole)
		damaged[at] ^= 0x41
		remove(t, s, l.Sealed(chunks[0]))
		put(t, s, l.Sealed(chunks[0]), string(damaged))
		err := stage.VerifySealed(ctx, s, l, manifest(chunks), readback)
		if !errors.Is(err, stage.ErrMismatch) || !strings.Contains(err.Error(), l.Sealed(chunks[0])) {
			t.Errorf("byte %d damaged: got %v, want ErrMismatch naming %s", at, err, l.Sealed(chunks[0]))
		}
	}
}
