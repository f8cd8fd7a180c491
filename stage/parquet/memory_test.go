package parquet

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// What a Writer keeps in memory follows from its options, whatever the table: a thousand columns, rows of 32 MB, texts
// that are all different.
func TestMemoryIsBounded(t *testing.T) {
	const columns = 1000
	opt := Options{RowGroupBytes: 16 << 20}
	for _, tc := range []struct {
		name                  string
		length, rows, batches int
	}{
		{"long texts", 32 << 10, 1, 4},
		{"short texts", 12, 1000, 8},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cols, b := texty(columns, tc.rows, tc.length)
			before := heap()
			w, err := NewWriter(io.Discard, cols, opt)
			if err != nil {
				t.Fatal(err)
			}
			for range tc.batches {
				if err := w.Write(b); err != nil {
					t.Fatal(err)
				}
				most := 5*int(opt.RowGroupBytes)/2 + len(w.groups)*columns<<10
				if tc.rows == 1 {
					most += 2 * columns * tc.length
				}
				if held := heap() - before; held > most {
					t.Fatalf("after %d rows a writer holds %d MiB, want %d at most", w.rows+w.grouped, held>>20, most>>20)
				}
			}
			if len(w.groups) == 0 {
				t.Error("no row group was written, so that nothing is shown")
			}
			runtime.KeepAlive(b)
		})
	}
}

// texty is a batch of random texts, which neither a dictionary nor Snappy makes smaller.
func texty(columns, rows, length int) ([]stage.Column, *extract.Batch) {
	var cols []stage.Column
	for i := range columns {
		cols = append(cols, stage.Column{Name: fmt.Sprint("c", i), Source: fmt.Sprint("C", i), Type: extract.Type{Kind: extract.Text}})
	}
	b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
	noise := rand.NewChaCha8([32]byte{1})
	text := make([]byte, length)
	for ; b.Rows < rows; b.Rows++ {
		for i := range b.Cols {
			_, _ = noise.Read(text)
			b.Cols[i].AppendBytes(text)
		}
	}
	return cols, b
}

// heap is how many bytes are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
