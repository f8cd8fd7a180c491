package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// anyTable is a random table: types, how many of its values differ, how long they are, and where it has NULLs.
type anyTable struct {
	cols      []stage.Column
	rows      int
	batchRows int
	opt       Options
	rnd       *rand.Rand
	plan      []anyColumn
}

type anyColumn struct {
	nulls    int // a value of so many is NULL; 0: none, 1: all
	stretch  int // rows that are NULL, or not, together
	distinct uint64
	length   int // of the longest text
	turn     int // row from which on every text is a new one
	sign     int // of decimals; 0: either
}

// drawTable lets the property choose the size, which it makes small when it fails, and a seed. All else comes from the
// seed, because what rapid chooses is small too often for what only large things have.
func drawTable(t *rapid.T) *anyTable {
	rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	out := &anyTable{
		rows: 600 - rapid.IntRange(0, 600).Draw(t, "fewer rows"), batchRows: oneOf(rnd, 1, 100, 5000), rnd: rnd,
		opt: Options{
			RowGroupRows: oneOf[int64](rnd, 0, 350, 200), RowGroupBytes: oneOf[int64](rnd, 0, 64<<10, 8<<10), PageBytes: oneOf(rnd, 0, 4<<10, 500, 1),
			DictionaryBytes: oneOf[int64](rnd, 0, 4<<10, 400), Calendar: ProlepticCalendar, Codec: oneOf(rnd, Snappy, Zstd), Timestamps: oneOf(rnd, Int96, Int64Micros),
		},
	}
	for i := range 10 - rapid.IntRange(0, 9).Draw(t, "fewer columns") {
		out.cols = append(out.cols, stage.Column{Name: fmt.Sprint("c", i), Source: fmt.Sprint("C", i), Type: anyType(rnd)})
		out.plan = append(out.plan, anyColumn{
			nulls: oneOf(rnd, 0, 1, 2, 10, 500), stretch: oneOf(rnd, 1, 200), distinct: oneOf[uint64](rnd, 1, 2, 20, 2000),
			length: oneOf(rnd, 0, 1, 20, 20, 300, 32767), turn: oneOf(rnd, 0, 100, 300, 10_000), sign: oneOf(rnd, -1, 0, 1),
		})
	}
	return out
}

func oneOf[T any](rnd *rand.Rand, list ...T) T { return list[rnd.IntN(len(list))] }

func anyType(rnd *rand.Rand) extract.Type {
	typ := extract.Type{Kind: oneOf(rnd, extract.Text, extract.Text, extract.Text, extract.Decimal, extract.Decimal, extract.Decimal, extract.Timestamp,
		extract.Binary, extract.Float32, extract.Float64)}
	if typ.Kind == extract.Decimal {
		typ.Precision = 1 + rnd.IntN(extract.MaxPrecision)
		typ.Scale = rnd.IntN(typ.Precision + 1)
	}
	return typ
}

// fill makes the table in batches.
func (a *anyTable) fill() []*extract.Batch {
	var list []*extract.Batch
	for row := 0; row < a.rows; {
		b := extract.NewBatch(stage.SourceColumns(a.cols), 0, 0)
		for n := 1 + a.rnd.IntN(a.batchRows); b.Rows < n && row < a.rows; b.Rows++ {
			for i := range b.Cols {
				a.cell(&b.Cols[i], a.plan[i], row)
			}
			row++
		}
		list = append(list, b)
	}
	return append(list, extract.NewBatch(stage.SourceColumns(a.cols), 0, 0)) // and one of no rows
}

func (a *anyTable) cell(v *extract.Vector, p anyColumn, row int) {
	if p.nulls > 0 && rand.New(rand.NewPCG(uint64(row/p.stretch), 7)).IntN(p.nulls) == 0 {
		v.Null()
		return
	}
	n := a.rnd.Uint64N(p.distinct)
	if row >= p.turn {
		n = a.rnd.Uint64()
	}
	value := rand.New(rand.NewPCG(n, 1)) // the same for the same n
	switch v.Type.Kind {
	case extract.Decimal:
		appendAnyDecimal(v, value, p.sign)
	case extract.Timestamp:
		v.AppendTime(value.Int32N(extract.MaxDay-extract.MinDay+1)+extract.MinDay, value.Int64N(nanosPerDay/1000)*1000)
	case extract.Float32:
		v.AppendFloat32(math.Float32frombits(value.Uint32()))
	case extract.Float64:
		v.AppendFloat64(math.Float64frombits(value.Uint64()))
	default:
		text := make([]byte, value.IntN(p.length+1))
		for i := range text {
			text[i] = 'a' + byte(value.IntN(26))
		}
		v.AppendBytes(text)
	}
}

// appendAnyDecimal appends a decimal of any number of digits up to the most, which are all nines every now and then.
func appendAnyDecimal(v *extract.Vector, value *rand.Rand, sign int) {
	n := largest(1 + value.IntN(v.Type.Precision))
	if value.IntN(4) > 0 {
		n.Lo = value.Uint64N(n.Lo/2 + 1)
		if n.Hi > 0 {
			n.Hi = value.Int64N(n.Hi)
		}
	}
	if sign < 0 || sign == 0 && value.IntN(2) == 0 {
		n = n.Neg()
	}
	if v.Type.Wide() {
		v.AppendWide(n)
	} else {
		v.AppendInt(int64(n.Lo))
	}
}

// Whatever the table and however it is cut, what is read is what was written, and what parquet-go's own file holds; and
// the footer tells the truth.
func TestAnyTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawTable(t)
		batches := a.fill()
		var ours, theirs bytes.Buffer
		w, err := NewWriter(&ours, a.cols, a.opt)
		if err != nil {
			t.Fatal(err)
		}
		r := newReference(&theirs, a.cols)
		for _, b := range batches {
			before := digest(a.cols, b)
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if digest(a.cols, b) != before {
				t.Fatal("Write changed the batch")
			}
			if err := r.write(b); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := w.Close()
		if err != nil || rows != int64(a.rows) {
			t.Fatalf("Close() = %d, %v; want %d rows", rows, err, a.rows)
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
		want := texts(batches)
		compareTexts(t, readAll(t, ours.Bytes(), a.cols), want)
		compareTexts(t, readAll(t, theirs.Bytes(), a.cols), want)
		checkFooter(t, a, ours.Bytes(), want)
	})
}

func digest(cols []stage.Column, b *extract.Batch) string {
	d := extract.NewDigester(stage.SourceColumns(cols))
	d.Add(b)
	return d.Digest().String()
}

// texts are the values of batches column by column, quoted; NULL is empty.
func texts(batches []*extract.Batch) [][]string {
	out := make([][]string, len(batches[0].Cols))
	for _, b := range batches {
		for i := range b.Cols {
			v := &b.Cols[i]
			for j := range b.Rows {
				if v.IsNull(j) {
					out[i] = append(out[i], "")
				} else {
					out[i] = append(out[i], "'"+string(v.AppendText(nil, j))+"'")
				}
			}
		}
	}
	return out
}

func readAll(t *rapid.T, file []byte, cols []stage.Column) [][]string {
	r, err := NewReader(bytes.NewReader(file), int64(len(file)), cols)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := make([][]string, len(cols))
	b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
	for {
		err := r.Next(b)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range texts([]*extract.Batch{b}) {
			out[i] = append(out[i], column...)
		}
	}
}

func compareTexts(t *rapid.T, got, want [][]string) {
	for i := range want {
		if len(got[i]) != len(want[i]) {
			t.Fatalf("column %d: got %d values, want %d", i, len(got[i]), len(want[i]))
		}
		for j := range want[i] {
			if got[i][j] != want[i][j] {
				t.Fatalf("column %d, row %d: got %.60s, want %.60s", i, j, got[i][j], want[i][j])
			}
		}
	}
}

// checkFooter compares the counts, sizes and bounds of every row group with the values that are in it.
func checkFooter(t *rapid.T, a *anyTable, file []byte, values [][]string) {
	meta := footerOf(t, file)
	row, offset := 0, int64(len(magic))
	for _, g := range meta.RowGroups {
		if g.NumRows < 1 || a.opt.RowGroupRows > 0 && g.NumRows > a.opt.RowGroupRows {
			t.Fatalf("a row group has %d rows, at most %d are allowed", g.NumRows, a.opt.RowGroupRows)
		}
		var raw int64
		for i, c := range g.Columns {
			part := values[i][row : row+int(g.NumRows)]
			if c.FileOffset != offset {
				t.Fatalf("column %d begins at %d, want %d", i, c.FileOffset, offset)
			}
			offset += c.MetaData.TotalCompressedSize
			raw += c.MetaData.TotalUncompressedSize
			checkChunk(t, a.cols[i].Type, &c.MetaData, part)
		}
		if raw != g.TotalByteSize {
			t.Fatalf("a row group has %d bytes, its columns %d", g.TotalByteSize, raw)
		}
		row += int(g.NumRows)
	}
	if row != len(values[0]) || meta.NumRows != int64(row) {
		t.Fatalf("row groups have %d rows, the footer %d, want %d", row, meta.NumRows, len(values[0]))
	}
}

func checkChunk(t *rapid.T, typ extract.Type, m *format.ColumnMetaData, values []string) {
	nulls := 0
	for _, v := range values {
		if v == "" {
			nulls++
		}
	}
	if m.NumValues != int64(len(values)) || m.Statistics.NullCount != int64(nulls) {
		t.Fatalf("a chunk has %d values and %d NULLs, want %d and %d", m.NumValues, m.Statistics.NullCount, len(values), nulls)
	}
	bounded := typ.Kind == extract.Decimal || typ.Kind == extract.Timestamp && m.Type == format.Int64
	if has := m.Statistics.MinValue != nil; has != (bounded && nulls < len(values)) || m.Statistics.Min != nil || m.Statistics.Max != nil {
		t.Fatalf("a chunk of %v with %d of %d NULL has bounds: %v", typ, nulls, len(values), has)
	}
	if typ.Kind != extract.Decimal || nulls == len(values) {
		return
	}
	var all []extract.Int128
	for _, v := range values {
		if v != "" {
			n, err := extract.ParseDecimal(v[1:len(v)-1], typ)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, n)
		}
	}
	low, _ := extract.FromFixed(m.Statistics.MinValue)
	high, _ := extract.FromFixed(m.Statistics.MaxValue)
	if low != slices.MinFunc(all, extract.Int128.Cmp) || high != slices.MaxFunc(all, extract.Int128.Cmp) {
		t.Fatalf("a chunk of %v has bounds %v and %v, which are not those of its values", typ, low, high)
	}
}
