package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// A table in text: what a test writes, and what referees print. NULL is the only cell that is not its text.
type table struct {
	cols []stage.Column
	rows [][]string
}

const null = "\x00NULL"

func decimal(p, s int) extract.Type {
	return extract.Type{Kind: extract.Decimal, Precision: p, Scale: s}
}

var (
	timestamp = extract.Type{Kind: extract.Timestamp, Scale: 9}
	text      = extract.Type{Kind: extract.Text}
	binary    = extract.Type{Kind: extract.Binary}
	float     = extract.Type{Kind: extract.Float32}
	double    = extract.Type{Kind: extract.Float64}
)

func columns(types ...extract.Type) []stage.Column {
	var cols []stage.Column
	for i, typ := range types {
		// z.. a..: the order is not that of the names
		name := fmt.Sprintf("%c_%d", 'z'-i%26, i)
		cols = append(cols, stage.Column{Name: name, Source: strings.ToUpper(name), Type: typ})
	}
	return cols
}

// add appends a cell given as canonical text.
func add(t testing.TB, v *extract.Vector, cell string) {
	t.Helper()
	switch {
	case cell == null:
		v.Null()
	case v.Type.Kind == extract.Decimal:
		n, err := extract.ParseDecimal(cell, v.Type)
		if err != nil {
			t.Fatal(err)
		}
		if v.Type.Wide() {
			v.AppendWide(n)
		} else {
			v.AppendInt(int64(n.Lo))
		}
	case v.Type.Kind == extract.Timestamp:
		day, nano, err := extract.ParseTimestamp(cell)
		if err != nil {
			t.Fatal(err)
		}
		v.AppendTime(day, nano)
	case v.Type.Kind == extract.Float32:
		v.AppendFloat32(float32(parseFloat(t, cell, 32)))
	case v.Type.Kind == extract.Float64:
		v.AppendFloat64(parseFloat(t, cell, 64))
	default:
		v.AppendString(cell)
	}
}

func parseFloat(t testing.TB, s string, bits int) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, bits)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func cells(v *extract.Vector) []string {
	out := make([]string, 0, v.Len())
	for i := range v.Len() {
		if v.IsNull(i) {
			out = append(out, null)
		} else {
			out = append(out, string(v.AppendText(nil, i)))
		}
	}
	return out
}

func write(t testing.TB, tab table, opt parquet.Options, batchRows int) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := parquet.NewWriter(&file, tab.cols, opt)
	if err != nil {
		t.Fatal(err)
	}
	b := extract.NewBatch(stage.SourceColumns(tab.cols), 0, 0)
	flush := func() {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		b.Reset()
	}
	for _, row := range tab.rows {
		for i, cell := range row {
			add(t, &b.Cols[i], cell)
		}
		if b.Rows++; b.Rows == batchRows {
			flush()
		}
	}
	flush()
	rows, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if rows != int64(len(tab.rows)) {
		t.Fatalf("Close says %d rows, want %d", rows, len(tab.rows))
	}
	return file.Bytes()
}

func read(t testing.TB, file []byte, cols []stage.Column, maxRows, maxBytes int) [][]string {
	t.Helper()
	r, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)), cols)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := extract.NewBatch(stage.SourceColumns(cols), maxRows, maxBytes)
	var rows [][]string
	for {
		err := r.Next(b)
		if err == io.EOF {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Rows == 0 || maxRows > 0 && b.Rows > maxRows {
			t.Fatalf("Next returned a batch of %d rows, want 1..%d", b.Rows, maxRows)
		}
		byColumn := make([][]string, len(cols))
		for i := range b.Cols {
			byColumn[i] = cells(&b.Cols[i])
		}
		for i := range b.Rows {
			var row []string
			for _, c := range byColumn {
				row = append(row, c[i])
			}
			rows = append(rows, row)
		}
	}
}

func compare(t *testing.T, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if got[i][j] != want[i][j] {
				t.Fatalf("row %d, column %d: got %q, want %q", i, j, got[i][j], want[i][j])
			}
		}
	}
}

// limits is every type at its limits, and NULLs between.
func limits() table {
	types := []extract.Type{timestamp, text, binary, float, double}
	for p := 1; p <= 38; p++ {
		types = append(types, decimal(p, p/3))
	}
	tab := table{cols: columns(types...)}
	times := []string{"0001-01-01 00:00:00", "9999-12-31 23:59:59.999999999", "1582-10-04 23:59:59", "1582-10-15 00:00:00",
		"1500-02-28 12:00:00", "1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00", null, "2026-03-29 02:30:00.000000001"}
	floats := []string{"0", "-0", "1.5", "NaN", "+Inf", "-Inf", null, "3.4028235e+38", "1e-45"}
	doubles := []string{"NaN", "-0", "0", null, "1.7976931348623157e+308", "5e-324", "-Inf", "+Inf", "0.1"}
	texts := []string{"", "a\x00b", "\x00", "금액 €𝄞", null, strings.Repeat("long ", 3000), "\n\t\"'\\N", "NULL", " "}
	for i := range times {
		row := []string{times[i], texts[i], string([]byte{0, 0xff, byte(i)}), floats[i], doubles[i]}
		if i == 3 {
			row[2] = null
		}
		for _, typ := range types[5:] {
			row = append(row, limit(typ, i))
		}
		tab.rows = append(tab.rows, row)
	}
	return tab
}

// inMicros cuts timestamps to the microseconds that a file may be asked to hold.
func inMicros(tab table) table {
	for j, c := range tab.cols {
		for _, row := range tab.rows {
			if whole, fraction, ok := strings.Cut(row[j], "."); ok && c.Type.Kind == extract.Timestamp {
				row[j] = extract.CanonicalTimestamp(whole + "." + fraction[:min(len(fraction), 6)])
			}
		}
	}
	return tab
}

// limit is the i-th interesting value of a decimal.
func limit(typ extract.Type, i int) string {
	nines := strings.Repeat("9", typ.Precision-typ.Scale)
	zeros := "0"
	if typ.Scale > 0 {
		nines += "." + strings.Repeat("9", typ.Scale)
		zeros += "." + strings.Repeat("0", typ.Scale)
	}
	one := zeros[:len(zeros)-1] + "1"
	return []string{nines, "-" + nines, zeros, one, "-" + one, null, nines, null, zeros}[i]
}

func random(rows int) table {
	tab := table{cols: columns(decimal(10, 0), decimal(18, 2), decimal(38, 10), timestamp, text, text)}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range rows {
		row := []string{
			fmt.Sprint(rnd.Int64N(2e10) - 1e10 + 1), fmt.Sprintf("%d.%02d", rnd.Int64N(2e16)-1e16, rnd.IntN(100)),
			fmt.Sprintf("%d.%010d", rnd.Int64()-math.MaxInt64/2, rnd.Int64N(1e10)),
			extract.FormatTimestamp(randomDay(rnd), rnd.Int64N(864e11)),
			fmt.Sprintf("grade %d", rnd.IntN(4)), strings.Repeat(fmt.Sprint(rnd.Int64()), rnd.IntN(20)),
		}
		for i := range row {
			if rnd.IntN(7) == 0 {
				row[i] = null
			}
		}
		tab.rows = append(tab.rows, row)
	}
	return tab
}

// randomDay is a day of any year, but for those of October 1582 that Hive's calendar leaves out.
func randomDay(rnd *rand.Rand) int32 {
	for {
		day := rnd.Int32N(extract.MaxDay-extract.MinDay) + extract.MinDay
		if day < -141437 || day > -141428 {
			return day
		}
	}
}

func TestRoundTrip(t *testing.T) {
	allNull := table{cols: columns(decimal(5, 0), decimal(30, 2), timestamp, text, binary)}
	for range 3000 {
		allNull.rows = append(allNull.rows, []string{null, null, null, null, null})
	}
	small := parquet.Options{RowGroupRows: 700, PageBytes: 2 << 10, DictionaryBytes: 4 << 10}
	zstd := parquet.Options{Codec: parquet.Zstd, Timestamps: parquet.Int64Micros, PageBytes: 4 << 10}
	for _, tc := range []struct {
		name      string
		tab       table
		opt       parquet.Options
		batchRows int
	}{
		{"no rows", table{cols: limits().cols}, parquet.Options{}, 100},
		{"limits", limits(), parquet.Options{}, 4},
		{"limits, proleptic", limits(), parquet.Options{Calendar: parquet.ProlepticCalendar}, 4},
		{"limits, microseconds, zstd", inMicros(limits()), zstd, 4},
		{"many pages, microseconds, zstd", inMicros(random(5000)), zstd, 5000},
		{"all null", allNull, parquet.Options{}, 1000},
		{"many pages", random(5000), parquet.Options{}, 5000},
		{"many row groups", random(5000), small, 300},
		{"row groups cut by bytes", random(5000), parquet.Options{RowGroupBytes: 20 << 10}, 100},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := write(t, tc.tab, tc.opt, tc.batchRows)
			compare(t, read(t, file, tc.tab.cols, 333, 0), tc.tab.rows)
			compare(t, read(t, file, tc.tab.cols, 0, 64<<10), tc.tab.rows)
			compare(t, read(t, file, tc.tab.cols, 0, 0), tc.tab.rows)
		})
	}
}

// The columns of a file are found by name, whatever their order.
func TestReadByName(t *testing.T) {
	tab := random(10)
	file := write(t, tab, parquet.Options{}, 10)
	cols := []stage.Column{tab.cols[4], tab.cols[2], tab.cols[0], tab.cols[5], tab.cols[1], tab.cols[3]}
	for i, row := range read(t, file, cols, 0, 0) {
		if row[0] != tab.rows[i][4] || row[2] != tab.rows[i][0] || row[5] != tab.rows[i][3] {
			t.Fatalf("row %d: got %q, want the cells of %q in the order asked for", i, row, tab.rows[i])
		}
	}
}

func TestWriterRefusesValues(t *testing.T) {
	var hive parquet.Options
	wide := extract.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64}
	for _, tc := range []struct {
		name string
		typ  extract.Type
		put  func(v *extract.Vector)
		want string
		opt  parquet.Options
	}{
		{"narrow above", decimal(4, 2), func(v *extract.Vector) { v.AppendInt(10000) }, "100.00", hive},
		{"narrow below", decimal(4, 2), func(v *extract.Vector) { v.AppendInt(-10000) }, "-100.00", hive},
		{"narrow lowest", decimal(18, 0), func(v *extract.Vector) { v.AppendInt(math.MinInt64) }, "-9223372036854775808", hive},
		{"wide above", decimal(38, 0), func(v *extract.Vector) { v.AppendWide(wide) }, "decimal(38,0)", hive},
		{"wide lowest", decimal(38, 0), func(v *extract.Vector) { v.AppendWide(extract.Int128{Hi: math.MinInt64}) }, "decimal(38,0)", hive},
		{"no such day", timestamp, func(v *extract.Vector) { v.AppendTime(-141428, 0) }, "1582-10-14", hive},
		{"year 0", timestamp, func(v *extract.Vector) { v.AppendTime(extract.MinDay-1, 0) }, "day", hive},
		{"year 10000", timestamp, func(v *extract.Vector) { v.AppendTime(extract.MaxDay+1, 0) }, "day", hive},
		{"25 o'clock", timestamp, func(v *extract.Vector) { v.AppendTime(0, 86400e9) }, "nanosecond 86400000000000", hive},
		{"before midnight", timestamp, func(v *extract.Vector) { v.AppendTime(0, -1) }, "nanosecond -1", hive},
		{"nanoseconds in microseconds", timestamp, func(v *extract.Vector) { v.AppendTime(0, 1) }, "1970-01-01 00:00:00.000000001", parquet.Options{Timestamps: parquet.Int64Micros}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cols := columns(tc.typ)
			w, err := parquet.NewWriter(io.Discard, cols, tc.opt)
			if err != nil {
				t.Fatal(err)
			}
			b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
			tc.put(&b.Cols[0])
			b.Rows = 1
			err = w.Write(b)
			if !errors.Is(err, extract.ErrValue) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), cols[0].Name) {
				t.Errorf("got %v, want ErrValue naming column %s and %s", err, cols[0].Name, tc.want)
			}
			if _, err := w.Close(); err == nil {
				t.Error("Close makes a file of it")
			}
		})
	}
}

func TestReaderRefusesColumns(t *testing.T) {
	tab := table{cols: columns(decimal(10, 2), timestamp, text, binary), rows: [][]string{{"1.00", null, "x", "y"}}}
	file := write(t, tab, parquet.Options{}, 1)
	change := func(i int, f func(c *stage.Column)) []stage.Column {
		cols := append([]stage.Column(nil), tab.cols...)
		f(&cols[i])
		return cols
	}
	for name, cols := range map[string][]stage.Column{
		"missing":         change(0, func(c *stage.Column) { c.Name = "other" }),
		"other case":      change(0, func(c *stage.Column) { c.Name = strings.ToUpper(c.Name) }),
		"too many":        tab.cols[:3],
		"other scale":     change(0, func(c *stage.Column) { c.Type.Scale = 3 }),
		"other precision": change(0, func(c *stage.Column) { c.Type.Precision = 11 }),
		"text for time":   change(1, func(c *stage.Column) { c.Type = text }),
		"binary for text": change(2, func(c *stage.Column) { c.Type = binary }),
		"text for binary": change(3, func(c *stage.Column) { c.Type = text }),
	} {
		if _, err := parquet.NewReader(bytes.NewReader(file), int64(len(file)), cols); !errors.Is(err, stage.ErrMismatch) {
			t.Errorf("%s: got %v, want ErrMismatch", name, err)
		}
	}
}

// Whatever byte is damaged, a reader ends with an error or with other rows than were written, and never panics.
func TestReaderSurvivesDamage(t *testing.T) {
	tab := random(200)
	file := write(t, tab, parquet.Options{PageBytes: 1 << 10}, 50)
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		damaged := bytes.Clone(file)
		damaged[rnd.IntN(len(damaged))] ^= byte(1 + rnd.IntN(255))
		drain(damaged, tab.cols)
	}
	for n := range 300 {
		if drain(file[:len(file)*n/300], tab.cols) == nil {
			t.Errorf("a file cut to %d of 300 parts reads without an error", n)
		}
	}
}

// A store that cannot be read is no fault of the file.
func TestReaderPassesStoreErrors(t *testing.T) {
	tab := random(200)
	file := write(t, tab, parquet.Options{}, 50)
	for calls := range 100 {
		in := &failing{ReaderAt: bytes.NewReader(file), left: calls}
		err := drainFrom(in, int64(len(file)), tab.cols)
		if in.left >= 0 {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if !errors.Is(err, stage.ErrUnreachable) || errors.Is(err, stage.ErrMismatch) {
			t.Errorf("call %d fails: got %v, want ErrUnreachable alone", calls, err)
		}
	}
	t.Error("the file takes more than 100 calls to read")
}

type failing struct {
	io.ReaderAt
	left int
}

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, fmt.Errorf("read: %w", stage.ErrUnreachable)
	}
	return f.ReaderAt.ReadAt(p, off)
}

func drain(file []byte, cols []stage.Column) error {
	return drainFrom(bytes.NewReader(file), int64(len(file)), cols)
}

func drainFrom(in io.ReaderAt, size int64, cols []stage.Column) error {
	r, err := parquet.NewReader(in, size, cols)
	if err != nil {
		return err
	}
	b := extract.NewBatch(stage.SourceColumns(cols), 1000, 1<<20)
	for err == nil {
		err = r.Next(b)
	}
	if err == io.EOF {
		err = nil
	}
	return errors.Join(err, r.Close())
}

func TestSchemaRefused(t *testing.T) {
	twice := columns(text, text)
	twice[1].Name = twice[0].Name
	for name, cols := range map[string][]stage.Column{
		"no column": nil, "twice": twice, "39 digits": columns(decimal(39, 0)), "scale above precision": columns(decimal(3, 4)),
		"negative scale": columns(decimal(3, -1)), "unknown kind": columns(extract.Type{}),
	} {
		if _, err := parquet.NewWriter(io.Discard, cols, parquet.Options{}); err == nil {
			t.Errorf("%s: NewWriter accepts it", name)
		}
	}
	for name, opt := range map[string]parquet.Options{"codec": {Codec: 9}, "timestamps": {Timestamps: 9}} {
		if _, err := parquet.NewWriter(io.Discard, columns(text), opt); err == nil {
			t.Errorf("unknown %s: NewWriter accepts it", name)
		}
	}
}
