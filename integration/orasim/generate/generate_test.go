package generate

import (
	"bytes"
	"slices"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func sixteen(t testing.TB, rows int64, seed uint64) *Table {
	t.Helper()
	table, err := Sixteen(rows, seed)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestTotalsEqualRecomputation adds up slices row by row: within a cycle, over its end, over several.
func TestTotalsEqualRecomputation(t *testing.T) {
	table := sixteen(t, 3*Cycle+100, 7)
	for _, r := range [][2]int64{{0, 1}, {5, 5}, {0, Cycle}, {Cycle - 3, Cycle + 3}, {17, 2*Cycle + 40}, {3 * Cycle, 1 << 40}} {
		all := addUp(t, table, r[0], min(r[1], table.Rows()))
		for i, c := range table.Columns() {
			got, want := table.Totals(i, r[0], r[1]), all[i]
			if got.Count != want.Count || got.Sum.Cmp(&want.Sum) != 0 || !bytes.Equal(got.Min, want.Min) || !bytes.Equal(got.Max, want.Max) {
				t.Errorf("%s of rows %d to %d: got %+v, want %+v", c.Name, r[0], r[1], got, want)
			}
		}
	}
}

// addUp is the totals of every column, row by row.
func addUp(t *testing.T, table *Table, from, to int64) []Totals {
	t.Helper()
	all := make([]Totals, len(table.columns))
	for n := from; n < to; n++ {
		row, _ := table.Row(n, nil, nil)
		for i := range all {
			if len(row[i]) > 0 {
				all[i].take(t, table.columns[i].Type, row[i])
			}
		}
	}
	return all
}

func (sum *Totals) take(t *testing.T, typ ora.Type, v ora.Value) {
	t.Helper()
	sum.Count++
	if sum.Min == nil || bytes.Compare(v, sum.Min) < 0 {
		sum.Min = v
	}
	if sum.Max == nil || bytes.Compare(v, sum.Max) > 0 {
		sum.Max = v
	}
	if typ.Code == ora.Number {
		x, err := ora.DecodeNumber(v)
		if err != nil {
			t.Fatal(err)
		}
		sum.Sum = must(sum.Sum.Add(x))
	}
}

func TestRowsAreAFunctionOfTheSeed(t *testing.T) {
	a, b, other := sixteen(t, 1000, 7), sixteen(t, 5000, 7), sixteen(t, 1000, 8)
	same := 0
	for n := range int64(1000) {
		ra, _ := a.Row(n, nil, nil)
		rb, _ := b.Row(n, nil, nil)
		ro, _ := other.Row(n, nil, nil)
		if !slices.EqualFunc(ra, rb, equal) {
			t.Fatalf("row %d differs between two tables of one seed", n)
		}
		if slices.EqualFunc(ra, ro, equal) {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d rows are the same under another seed", same)
	}
}

func equal(a, b ora.Value) bool { return bytes.Equal(a, b) }

// TestNullsAndRanges checks that rules keep to what they say, by what a third or a tenth of rows should be.
func TestNullsAndRanges(t *testing.T) {
	table := sixteen(t, Cycle, 1)
	for _, c := range table.columns {
		i := slices.IndexFunc(table.Columns(), func(o ora.Column) bool { return o.Name == c.Name })
		nulls := 100 * float64(Cycle-table.Totals(i, 0, Cycle).Count) / Cycle
		if diff := nulls - float64(c.Nulls); diff > 2 || diff < -2 {
			t.Errorf("%s: %.1f per cent are NULL, want about %d", c.Name, nulls, c.Nulls)
		}
	}
	amount := table.Totals(2, 0, Cycle)
	for _, v := range []ora.Value{amount.Min, amount.Max} {
		x := must(ora.DecodeNumber(v))
		low, high := must(ora.ParseNum("-50000")), must(ora.ParseNum("950000"))
		if x.Cmp(&low) < 0 || x.Cmp(&high) > 0 {
			t.Errorf("AMOUNT %s is out of its range", x)
		}
	}
}

func TestRange(t *testing.T) {
	table, err := New(100, 1, []Column{{column("K", number(9, 0), false), Sequence{10, 5}, 0}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		low, high *int64
		from, to  int64
	}{
		{nil, nil, 0, 100}, {at(10), at(10), 0, 1}, {at(11), at(14), 1, 1}, {at(11), at(15), 1, 2}, {at(-50), at(0), 0, 0},
		{at(505), nil, 99, 100}, {at(506), nil, 100, 100}, {nil, at(9), 0, 0},
	} {
		if from, to := table.Range(c.low, c.high); from != c.from || to != c.to {
			t.Errorf("%v to %v: got rows %d to %d, want %d to %d", c.low, c.high, from, to, c.from, c.to)
		}
	}
}

func TestPackedRowsAreTheRows(t *testing.T) {
	table := sixteen(t, 2*Cycle, 3)
	columns := []int{15, 0, 2, 2, 7, 0, 10}
	p, err := table.Pack(columns)
	if err != nil {
		t.Fatal(err)
	}
	var packed ora.Packed
	for _, n := range []int64{0, 1, Cycle - 1, Cycle, 2*Cycle - 1} {
		packed.Reset()
		p.Append(&packed, n)
		row, _ := table.Row(n, nil, nil)
		var want []byte
		for _, i := range columns {
			want = append(append(want, byte(len(row[i]))), row[i]...)
		}
		if !bytes.Equal(packed.Bytes, want) || packed.Ends[0] != len(want) {
			t.Errorf("row %d: got % x, want % x", n, packed.Bytes, want)
		}
	}
}

func TestBadTables(t *testing.T) {
	for name, c := range map[string]Column{
		"no rule":       {Column: column("A", number(9, 0), true)},
		"no values":     {Column: column("A", text(3), true), Rule: Choice{}},
		"NULL keys":     {Column: column("A", number(9, 0), true), Rule: Sequence{1, 1}, Nulls: 5},
		"too many":      {Column: column("A", text(3), true), Rule: Text{Min: 1, Max: 2}, Nulls: 101},
		"standing keys": {Column: column("A", number(9, 0), true), Rule: Sequence{1, 0}},
	} {
		if _, err := New(10, 1, []Column{c}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func BenchmarkPacked(b *testing.B) {
	table, err := Ten(100_000_000, 1)
	if err != nil {
		b.Fatal(err)
	}
	p, err := table.Pack([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	if err != nil {
		b.Fatal(err)
	}
	var packed ora.Packed
	n := int64(0)
	for b.Loop() {
		if n%4096 == 0 {
			packed.Reset()
		}
		p.Append(&packed, n)
		n++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
