package parquet

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// mix is the table of a bank: identifiers, amounts, rates, references, notes, dates, and a status of few values. A tenth
// of all but the identifier is NULL, and a third is as in the row before.
func mix(columns, batches, rows int) ([]stage.Column, []*extract.Batch) {
	dec := func(p, s int) extract.Type { return extract.Type{Kind: extract.Decimal, Precision: p, Scale: s} }
	text, ts := extract.Type{Kind: extract.Text}, extract.Type{Kind: extract.Timestamp, Scale: 6}
	types := []extract.Type{dec(12, 0), dec(10, 0), dec(18, 2), dec(38, 10), text, text, ts, ts, dec(6, 0), text,
		dec(18, 2), dec(38, 10), text, ts, ts, dec(9, 0)}[:columns]
	var cols []stage.Column
	for i, t := range types {
		cols = append(cols, stage.Column{Name: fmt.Sprint("c", i), Source: fmt.Sprint("C", i), Type: t})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var list []*extract.Batch
	for range batches {
		b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
		for ; b.Rows < rows; b.Rows++ {
			for i := range b.Cols {
				mixCell(&b.Cols[i], i, b.Rows, rnd)
			}
		}
		list = append(list, b)
	}
	return cols, list
}

func mixCell(v *extract.Vector, column, row int, rnd *rand.Rand) {
	switch {
	case column == 0:
		v.AppendInt(int64(row) + 1e9)
	case rnd.IntN(10) == 0:
		v.Null()
	case row > 0 && rnd.IntN(3) == 0 && !v.IsNull(row-1):
		repeat(v, row-1)
	case v.Type.Wide():
		v.AppendWide(extract.Int128{Hi: rnd.Int64N(1 << 20), Lo: rnd.Uint64()})
	case v.Type.Kind == extract.Decimal:
		most := int64(largest(v.Type.Precision).Lo) >> (rnd.IntN(5) * 6)
		v.AppendInt(rnd.Int64N(2*most+1) - most)
	case v.Type.Kind == extract.Timestamp && column%2 == 0:
		v.AppendTime(rnd.Int32N(20000), int64(rnd.IntN(86400))*1e9)
	case v.Type.Kind == extract.Timestamp:
		v.AppendTime(rnd.Int32N(20000), rnd.Int64N(86400e6)*1e3)
	case column == 9:
		v.AppendString([]string{"OPEN", "SHIPPED", "CLOSED", "CANCELLED"}[rnd.IntN(4)])
	default:
		v.AppendString(words(rnd, 1+rnd.IntN(40)))
	}
}

func repeat(v *extract.Vector, i int) {
	switch {
	case v.Type.Wide():
		v.AppendWide(v.Wide[i])
	case v.Type.Kind == extract.Decimal:
		v.AppendInt(v.Int[i])
	case v.Type.Kind == extract.Timestamp:
		v.AppendTime(v.Day[i], v.Nano[i])
	default:
		v.AppendBytes(append([]byte(nil), v.At(i)...))
	}
}

func words(rnd *rand.Rand, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ0123456789"
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[rnd.IntN(len(letters))]
	}
	return string(out)
}

// counter is a file that is only counted.
type counter struct{ n int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return len(p), nil
}

// cpu is the time that the process has used, in nanoseconds.
func cpu(b *testing.B) int64 {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// BenchmarkWrite writes files of a million rows in batches of 8192: by Writer, and by parquet-go in the same profile.
func BenchmarkWrite(b *testing.B) {
	const batches, different = 128, 16 // enough texts that no dictionary holds them
	for _, columns := range []int{10, 16} {
		cols, list := mix(columns, different, 8192)
		ours := func(opt Options) func(out *counter) error {
			return func(out *counter) error {
				w, err := NewWriter(out, cols, opt)
				for i := 0; i < batches && err == nil; i++ {
					err = w.Write(list[i%different])
				}
				if err == nil {
					_, err = w.Close()
				}
				return err
			}
		}
		for _, tc := range []struct {
			name  string
			write func(out *counter) error
		}{
			{"ours", ours(Options{})},
			{"ours, zstd", ours(Options{Codec: Zstd})},
			{"ours, microseconds", ours(Options{Timestamps: Int64Micros})},
			{"parquet-go", func(out *counter) error {
				w := newReference(out, cols)
				for i := range batches {
					if err := w.write(list[i%different]); err != nil {
						return err
					}
				}
				return w.close()
			}},
		} {
			b.Run(fmt.Sprintf("%d columns/%s", columns, tc.name), func(b *testing.B) {
				measure(b, batches*8192, tc.write)
			})
		}
	}
}

// measure reports the CPU time of a row, which other work on the machine disturbs less than wall time.
func measure(b *testing.B, rows int, write func(out *counter) error) {
	b.Helper()
	b.ReportAllocs()
	var out counter
	before := cpu(b)
	for b.Loop() {
		if err := write(&out); err != nil {
			b.Fatal(err)
		}
	}
	total := float64(b.N) * float64(rows)
	b.ReportMetric(float64(cpu(b)-before)/total, "cpu-ns/row")
	b.ReportMetric(float64(out.n)/total, "B/row")
}
