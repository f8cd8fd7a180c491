package extract

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func TestDigestIgnoresOrderAndCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := anyRows.Draw(t, "rows")
		want := digestOf(rows)
		perm := rapid.Permutation(rows).Draw(t, "order")
		cut := rapid.IntRange(0, len(rows)).Draw(t, "cut")
		got := digestOf(perm[:cut])
		if err := got.Merge(digestOf(perm[cut:])); err != nil {
			t.Fatal(err)
		}
		if !got.Equal(want) {
			t.Fatalf("digest = %s, want %s", got, want)
		}
		back, err := ParseDigest(got.String())
		if err != nil || !back.Equal(want) {
			t.Fatalf("ParseDigest = %s, %v; want %s", back, err, want)
		}
	})
}

// TestDigestCatches changes content in the ways that loaders are known to, each of which leaves counts, and
// often sums, as they were.
func TestDigestCatches(t *testing.T) {
	row := func(id int64, amount int64, note string) []value {
		r := make([]value, len(testColumns()))
		for i := range r {
			r[i] = value{null: true}
		}
		r[0], r[1], r[4] = value{wide: NewInt128(id)}, value{wide: NewInt128(amount)}, value{text: note}
		return r
	}
	base := func() [][]value { return [][]value{row(1, 100, "a"), row(2, 200, "b"), row(3, 300, "c")} }
	for name, change := range map[string]func(r [][]value) [][]value{
		"values swapped between rows":    func(r [][]value) [][]value { r[0][1], r[1][1] = r[1][1], r[0][1]; return r },
		"values swapped between columns": func(r [][]value) [][]value { r[0][0], r[0][1] = r[0][1], r[0][0]; return r },
		"a row lost and another doubled": func(r [][]value) [][]value { return [][]value{r[0], r[0], r[2]} },
		"a row lost":                     func(r [][]value) [][]value { return r[:2] },
		"a value became NULL":            func(r [][]value) [][]value { r[2][4] = value{null: true}; return r },
		"a NULL became empty":            func(r [][]value) [][]value { r[2][5] = value{}; return r },
		"text and binary swapped":        func(r [][]value) [][]value { r[2][4], r[2][5] = r[2][5], r[2][4]; return r },
		"a blank was cut":                func(r [][]value) [][]value { r[2][4].text = "c "; return r },
		"sums kept":                      func(r [][]value) [][]value { r[0][1].wide.Lo++; r[1][1].wide.Lo--; return r },
	} {
		want, got := digestOf(base()), digestOf(change(base()))
		if got.Equal(want) || len(want.Differences(got, testColumns())) == 0 {
			t.Errorf("%s: not caught", name)
		}
	}
}

func TestDigestSeesScaleAndNotWidth(t *testing.T) {
	digest := func(typ Type) string {
		cols := []Column{{Name: "N", Type: typ}}
		b := NewBatch(cols, 0, 0)
		if typ.Wide() {
			b.Cols[0].AppendWide(NewInt128(-1234))
		} else {
			b.Cols[0].AppendInt(-1234)
		}
		b.Rows = 1
		d := NewDigester(cols)
		d.Add(b)
		return d.Digest().String()
	}
	narrow := digest(Type{Kind: Decimal, Precision: 18, Scale: 2})
	if wide := digest(Type{Kind: Decimal, Precision: 38, Scale: 2}); wide != narrow {
		t.Errorf("the same value at another width has digest %s, want %s", wide, narrow)
	}
	if scaled := digest(Type{Kind: Decimal, Precision: 18, Scale: 3}); scaled == narrow {
		t.Error("-12.34 and -1.234 have the same digest")
	}
}

// TestDigestIsStable pins the values: digests are stored, and a change of the function needs a new version.
func TestDigestIsStable(t *testing.T) {
	rows := [][]value{}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		row := make([]value, len(testColumns()))
		for i := range row {
			row[i] = value{wide: NewInt128(r.Int64N(1000)), at: instant{int32(r.IntN(1000)), 5}, text: "text of more than sixteen bytes", f: 1.5}
		}
		rows = append(rows, row)
	}
	const want = "d1:3:75cf438cde79072d:009a146ed8f29898:59ab1319aa3365a5:2844f04ea6d040d5:308758513d8632ad:7c9de5cf53f2bb79:e1c628e528c16f99:2509213f4e2ac620:a62e76a00665af16"
	if got := digestOf(rows).String(); got != want {
		t.Fatalf("digest = %s, want %s", got, want)
	}
}

func TestParseDigestRefuses(t *testing.T) {
	for _, s := range []string{"", "d1", "d1:1", "d0:1:00", "d1:-1:00", "d1:1:xx", "d1:1:00:zz"} {
		if d, err := ParseDigest(s); err == nil {
			t.Errorf("ParseDigest(%q) = %s, want an error", s, d)
		}
	}
}

func TestDigestAndTallyDoNotAllocate(t *testing.T) {
	rows := make([][]value, 100)
	for i := range rows {
		rows[i] = make([]value, len(testColumns()))
		for c := range rows[i] {
			rows[i][c] = value{wide: NewInt128(int64(i * c)), text: "some text", null: (i+c)%7 == 0}
		}
	}
	b := batchOf(rows)
	d := NewDigester(testColumns())
	table := &Table{Columns: testColumns()}
	ms, err := DefaultMeasures(table, "ID", Choice{All: true})
	if err != nil {
		t.Fatal(err)
	}
	tally, err := NewTally(testColumns(), ms)
	if err != nil {
		t.Fatal(err)
	}
	d.Add(b)
	if n := testing.AllocsPerRun(10, func() { d.Add(b); tally.Add(b) }); n != 0 {
		t.Fatalf("%v allocations a batch, want 0", n)
	}
}

func BenchmarkDigestAndTally(b *testing.B) {
	rows := make([][]value, 4096)
	for i := range rows {
		rows[i] = make([]value, len(testColumns()))
		for c := range rows[i] {
			rows[i][c] = value{wide: NewInt128(int64(i * c)), text: "some text of usual length", null: (i+c)%7 == 0}
		}
	}
	batch := batchOf(rows)
	ms, _ := DefaultMeasures(&Table{Columns: testColumns()}, "ID", Choice{All: true})
	tally, _ := NewTally(testColumns(), ms)
	d := NewDigester(testColumns())
	for b.Loop() {
		d.Add(batch)
		tally.Add(batch)
	}
	b.ReportMetric(float64(b.N)*4096/b.Elapsed().Seconds(), "rows/s")
}
