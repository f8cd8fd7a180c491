package extract

import (
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func allMeasures(t interface{ Fatal(...any) }) []Measure {
	ms, err := DefaultMeasures(&Table{Columns: testColumns()}, "ID", Choice{All: true})
	if err != nil {
		t.Fatal(err)
	}
	return ms
}

func tallyOf(t interface{ Fatal(...any) }, rows [][]value) *Tally {
	tally, err := NewTally(testColumns(), allMeasures(t))
	if err != nil {
		t.Fatal(err)
	}
	tally.Add(batchOf(rows))
	return tally
}

// naive computes a metric the slow way, over texts and big integers.
func naive(rows [][]value, m Measure) Metric {
	out := Metric{Column: m.Column, What: m.What}
	if m.What == Rows {
		out.Value = fmt.Sprint(len(rows))
		return out
	}
	b := batchOf(rows)
	v := &b.Cols[indexOf(testColumns(), m.Column)]
	sum, count, best := new(big.Int), 0, ""
	for i := range b.Rows {
		if v.IsNull(i) {
			continue
		}
		text := string(v.AppendText(nil, i))
		if v.Type.Kind == Decimal {
			n, _, _ := parseBig(text)
			sum.Add(sum, n)
		}
		if m.What == Min || m.What == Max {
			c, _ := compareValues(text, best)
			if count == 0 || (c < 0) == (m.What == Min) {
				best = text
			}
		}
		count++
	}
	switch {
	case m.What == NonNull:
		out.Value = fmt.Sprint(count)
	case count == 0:
		out.Null = true
	case m.What == Sum:
		out.Value = formatBig(sum, v.Type.Scale)
	default:
		out.Value = best
	}
	return out
}

func TestTallyAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyRows.Draw(t, "rows")
		cut := rapid.IntRange(0, len(rows)).Draw(t, "cut")
		var want []Metric
		for _, m := range allMeasures(t) {
			want = append(want, naive(rows, m))
		}
		left, right := tallyOf(t, rows[:cut]), tallyOf(t, rows[cut:])
		merged, err := Merge(left.Metrics(), right.Metrics())
		if err != nil {
			t.Fatal(err)
		}
		if d := Compare(merged, want); len(d) > 0 {
			t.Fatalf("merged metrics: %v", d)
		}
		if err := left.Merge(right); err != nil {
			t.Fatal(err)
		}
		if got := left.Metrics(); !reflect.DeepEqual(got, want) {
			t.Fatalf("tally = %v\nwant %v", got, want)
		}
		if left.Rows() != int64(len(rows)) {
			t.Fatalf("Rows = %d, want %d", left.Rows(), len(rows))
		}
	})
}

func TestTallySumsBeyond128Bits(t *testing.T) {
	cols := []Column{{Name: "N", Type: Type{Kind: Decimal, Precision: 38}}}
	tally, err := NewTally(cols, []Measure{{Column: "N", What: Sum}})
	if err != nil {
		t.Fatal(err)
	}
	nines, err := ParseDecimal(strings.Repeat("9", 38), cols[0].Type)
	if err != nil {
		t.Fatal(err)
	}
	b := NewBatch(cols, 0, 0)
	for range 1000 {
		b.Cols[0].AppendWide(nines)
		b.Rows++
	}
	tally.Add(b)
	if got, want := tally.Metrics()[0].Value, new(big.Int).Mul(nines.Big(), big.NewInt(1000)).String(); got != want {
		t.Fatalf("sum = %s, want %s", got, want)
	}
}

func TestNewTallyNamesWhatItCannot(t *testing.T) {
	_, err := NewTally(testColumns(), []Measure{{Column: "NOTE", What: Sum}, {Column: "GONE", What: NonNull}, {Column: "D", What: Min}, {What: Rows}})
	if !errors.Is(err, ErrNoColumn) || !errors.Is(err, ErrUnsupported) {
		t.Fatalf("err = %v, want ErrNoColumn and ErrUnsupported", err)
	}
	for _, name := range []string{`"NOTE"`, `"GONE"`, `"D"`} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%v does not name %s", err, name)
		}
	}
}

func TestDefaultMeasures(t *testing.T) {
	text := func(split string, c Choice) string {
		ms, err := DefaultMeasures(&Table{Columns: testColumns()}, split, c)
		if err != nil {
			t.Fatal(err)
		}
		var s []string
		for _, m := range ms {
			s = append(s, strings.TrimPrefix(m.Column+"."+string(m.What), "."))
		}
		return strings.Join(s, " ")
	}
	const counts = " NOTE.nonnull RAW.nonnull F.nonnull D.nonnull"
	const id = "rows ID.nonnull ID.sum ID.min ID.max "
	const amount = "AMOUNT.nonnull AMOUNT.sum AMOUNT.min AMOUNT.max "
	const at = "AT.nonnull AT.min AT.max"
	for _, c := range []struct {
		split  string
		choice Choice
		want   string
	}{
		{"ID", Choice{}, id + amount + "BIG.nonnull " + at + counts},
		{"BIG", Choice{}, id + amount + "BIG.nonnull BIG.sum BIG.min BIG.max " + at + counts},
		{"", Choice{All: true}, id + amount + "BIG.nonnull BIG.sum BIG.min BIG.max " + at + counts},
		{"ID", Choice{Columns: []string{"AT", "NOTE"}}, id + "AMOUNT.nonnull BIG.nonnull " + at + counts},
	} {
		if got := text(c.split, c.choice); got != c.want {
			t.Errorf("split %q, %+v:\n got %s\nwant %s", c.split, c.choice, got, c.want)
		}
	}
	_, err := DefaultMeasures(&Table{Columns: testColumns()}, "", Choice{Columns: []string{"GONE"}})
	if !errors.Is(err, ErrNoColumn) {
		t.Errorf("err = %v, want ErrNoColumn", err)
	}
}

func TestCompare(t *testing.T) {
	n := func(v string) Metric { return Metric{Column: "A", What: NonNull, Value: v} }
	sum := func(v string) Metric { return Metric{Column: "A", What: Sum, Value: v} }
	null := Metric{Column: "A", What: Sum, Null: true}
	for _, c := range []struct {
		name        string
		left, right []Metric
		want        string
	}{
		{"equal", []Metric{n("2"), sum("1.50")}, []Metric{sum("1.50"), n("2")}, ""},
		{"value", []Metric{sum("1.50")}, []Metric{sum("1.51")}, "A sum: source 1.50, staging 1.51"},
		{"text is exact", []Metric{sum("1.50")}, []Metric{sum("1.5")}, "A sum: source 1.50, staging 1.5"},
		{"null", []Metric{sum("0")}, []Metric{null}, "A sum: source 0, staging NULL"},
		{"null on both sides", []Metric{n("1"), null}, []Metric{n("1"), null}, "A sum: source NULL, staging NULL (NULL although the column has values)"},
		{"all null", []Metric{n("0"), null}, []Metric{n("0"), null}, ""},
		{"missing right", []Metric{n("1"), sum("2")}, []Metric{n("1")}, "A sum: source 2, staging missing"},
		{"missing left", []Metric{n("1")}, []Metric{n("1"), sum("2")}, "A sum: source missing, staging 2"},
		{"nothing", nil, nil, "table rows: source missing, staging missing (no metrics at all)"},
	} {
		var got []string
		for _, d := range Compare(c.left, c.right) {
			got = append(got, d.Text("source", "staging"))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestMergeRefuses(t *testing.T) {
	sum := func(v string) []Metric { return []Metric{{Column: "A", What: Sum, Value: v}} }
	for name, parts := range map[string][][]Metric{
		"other metrics": {sum("1"), {{Column: "B", What: Sum, Value: "1"}}},
		"fewer metrics": {sum("1"), nil},
		"not a number":  {sum("1"), sum("x")},
		"other scale":   {sum("1.0"), sum("1.00")},
	} {
		if got, err := Merge(parts...); err == nil {
			t.Errorf("%s: merged to %v", name, got)
		}
	}
}
