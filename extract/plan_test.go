package extract

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// ranges renders a plan: "[from,below)" for ranges, "NULL" for the slice of NULLs.
func ranges(slices []Slice) string {
	var out []string
	for _, s := range slices {
		switch s.Shape {
		case Range:
			out = append(out, "["+s.From+","+s.Below+")")
		case IsNull:
			out = append(out, "NULL")
		default:
			out = append(out, string(s.Shape))
		}
	}
	return strings.Join(out, " ")
}

func TestPlanRange(t *testing.T) {
	key := Column{Name: "SEQ", Type: Type{Kind: Decimal, Precision: 10}}
	bare := Column{Name: "N", Type: Type{Kind: Decimal, Precision: 38, Scale: 10}, Nullable: true}
	cents := Column{Name: "AMOUNT", Type: Type{Kind: Decimal, Precision: 18, Scale: 2}}
	date := Column{Name: "D", Type: Type{Kind: Timestamp}}
	stamp := Column{Name: "TS", Type: Type{Kind: Timestamp, Scale: 6}}
	big38 := Column{Name: "B", Type: Type{Kind: Decimal, Precision: 38}}
	nines := strings.Repeat("9", 38)
	for _, c := range []struct {
		name  string
		col   Column
		b     Bounds
		parts int
		want  string
	}{
		{"scenario", key, Bounds{Min: "1", Max: "120000"}, 8,
			"[,15001) [15001,30001) [30001,45001) [45001,60001) [60001,75001) [75001,90001) [90001,105001) [105001,)"},
		{"more parts than values", key, Bounds{Min: "1", Max: "3"}, 8, "[,2) [2,3) [3,)"},
		{"one value", key, Bounds{Min: "7", Max: "7"}, 4, "[,)"},
		{"one part", key, Bounds{Min: "1", Max: "9"}, 1, "[,)"},
		{"no rows", key, Bounds{}, 4, "[,)"},
		{"no rows, nullable", bare, Bounds{}, 4, "[,) NULL"},
		{"NULLs against the dictionary", key, Bounds{Min: "1", Max: "2", Nulls: 1}, 2, "[,2) [2,) NULL"},
		{"negative", key, Bounds{Min: "-10", Max: "-1"}, 3, "[,-7) [-7,-4) [-4,)"},
		{"across zero", key, Bounds{Min: "-3", Max: "3"}, 2, "[,0) [0,)"},
		{"whole numbers in a NUMBER", bare, Bounds{Min: "1", Max: "8"}, 2, "[,5.0000000000) [5.0000000000,) NULL"},
		{"fractions", cents, Bounds{Min: "0.01", Max: "0.09"}, 3, "[,0.04) [0.04,0.07) [0.07,)"},
		{"finer than the scale", cents, Bounds{Min: "0.001", Max: "0.099"}, 2, "[,0.05) [0.05,)"},
		{"38 digits", big38, Bounds{Min: "-" + nines, Max: nines}, 2, "[,0) [0,)"},
		{"a day of seconds", date, Bounds{Min: "2026-09-28 00:00:00", Max: "2026-09-28 23:59:59"}, 2,
			"[,2026-09-28 12:00:00) [2026-09-28 12:00:00,)"},
		{"open end date", date, Bounds{Min: "0001-01-01 00:00:00", Max: "9999-12-31 00:00:00"}, 2,
			"[,5000-07-02 00:00:00) [5000-07-02 00:00:00,)"},
		{"microseconds", stamp, Bounds{Min: "2026-09-28 00:00:00.000001", Max: "2026-09-28 00:00:00.000004"}, 2,
			"[,2026-09-28 00:00:00.000003) [2026-09-28 00:00:00.000003,)"},
		{"before 1970", stamp, Bounds{Min: "1969-12-31 23:59:58", Max: "1970-01-01 00:00:01"}, 2,
			"[,1970-01-01 00:00:00) [1970-01-01 00:00:00,)"},
	} {
		got, err := PlanRange(c.col, c.b, c.parts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if ranges(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, ranges(got), c.want)
		}
		if err := CheckSlices(got); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestPlanRangeRefuses(t *testing.T) {
	key := Column{Name: "SEQ", Type: Type{Kind: Decimal, Precision: 10}}
	text := Column{Name: "NOTE", Type: Type{Kind: Text}}
	if _, err := PlanRange(text, Bounds{Min: "a", Max: "b"}, 2); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), `"NOTE"`) {
		t.Errorf("text column: %v, want ErrUnsupported that names it", err)
	}
	if _, err := PlanRange(key, Bounds{Min: "1", Max: "2"}, 0); err == nil {
		t.Error("0 parts were planned")
	}
	if _, err := PlanRange(key, Bounds{Min: "2", Max: "1"}, 2); err == nil {
		t.Error("bounds in the wrong order were planned")
	}
}

// in tells whether a slice holds a value, given as its integer on the column's axis; nil is NULL.
func in(a axis, s Slice, n *big.Int) bool {
	if s.Shape == IsNull || n == nil {
		return (s.Shape == IsNull) == (n == nil)
	}
	if s.From != "" {
		if from, _ := a.position(s.From); n.Cmp(from) < 0 {
			return false
		}
	}
	if s.Below != "" {
		if below, _ := a.position(s.Below); n.Cmp(below) >= 0 {
			return false
		}
	}
	return true
}

func TestPlanRangeHoldsEveryValueOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Column{Name: "C", Nullable: true, Type: Type{Kind: Decimal, Precision: 38, Scale: rapid.IntRange(0, 12).Draw(t, "scale")}}
		least, greatest := int64(-1<<61), int64(1<<61)
		if rapid.Bool().Draw(t, "timestamp") {
			c.Type = Type{Kind: Timestamp, Scale: rapid.IntRange(0, 9).Draw(t, "fraction")}
			least, greatest = -62_135_596_800, 9_000_000_000 // any digit of these is inside 0001..9999
		}
		a, err := newAxis(c)
		if err != nil {
			t.Fatal(err)
		}
		values := rapid.SliceOfN(rapid.Int64Range(least, greatest), 1, 20).Draw(t, "values")
		low, high := values[0], values[0]
		for _, v := range values {
			low, high = min(low, v), max(high, v)
		}
		parts := rapid.IntRange(1, 20).Draw(t, "parts")
		slices, err := PlanRange(c, Bounds{Min: a.text(big.NewInt(low)), Max: a.text(big.NewInt(high))}, parts)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckSlices(slices); err != nil {
			t.Fatalf("%s: %v", ranges(slices), err)
		}
		if len(slices) > parts+1 {
			t.Fatalf("%d slices for %d parts and the NULLs", len(slices), parts)
		}
		// Values outside the bounds appear when another query than the plan's saw the table.
		candidates := []*big.Int{nil, big.NewInt(low - 1), big.NewInt(high + 1)}
		for _, v := range values {
			candidates = append(candidates, big.NewInt(v))
		}
		for _, v := range candidates {
			holders := 0
			for _, s := range slices {
				if in(a, s, v) {
					holders++
				}
			}
			if holders != 1 {
				t.Fatalf("%v is in %d slices of %s", v, holders, ranges(slices))
			}
		}
		checkEven(t, a, slices, low, high)
	})
}

// checkEven demands that no range is more than about twice as wide as it should be.
func checkEven(t *rapid.T, a axis, slices []Slice, low, high int64) {
	n := int64(len(slices) - 1)
	limit := (new(big.Int).Sub(big.NewInt(high), big.NewInt(low)).Int64()/n + 1) * 2
	from := big.NewInt(low)
	for _, s := range slices[:n] {
		to := big.NewInt(high)
		if s.Below != "" {
			to, _ = a.position(s.Below)
		}
		if width := new(big.Int).Sub(to, from).Int64(); width > limit {
			t.Fatalf("%s is %d wide, more than %d", ranges([]Slice{s}), width, limit)
		}
		from = to
	}
}

func manifest() Manifest {
	m := Manifest{Rows: 30, Total: []Metric{{What: Rows, Value: "30"}}}
	slices, _ := PlanRange(Column{Name: "N", Nullable: true, Type: Type{Kind: Decimal, Precision: 5}}, Bounds{Min: "1", Max: "20"}, 2)
	for _, s := range slices {
		m.Slices = append(m.Slices, SliceCount{Slice: s, Rows: 10, Metrics: []Metric{{What: Rows, Value: "10"}}})
	}
	return m
}

func TestManifestCheck(t *testing.T) {
	if err := manifest().Check(); err != nil {
		t.Fatalf("a sound manifest: %v", err)
	}
	for name, c := range map[string]struct {
		damage func(m *Manifest)
		want   string
	}{
		"stray rows":          {func(m *Manifest) { m.Stray = 1 }, "1 rows are in no slice"},
		"other total":         {func(m *Manifest) { m.Rows = 31 }, "the slices have 30 rows, the table has 31"},
		"negative":            {func(m *Manifest) { m.Slices[0].Rows = -1 }, "slice 0 has -1 rows"},
		"metric of rows":      {func(m *Manifest) { m.Slices[1].Rows = 9 }, "slice 1 has 9 rows by its count and 10 by its metric"},
		"metrics of whole":    {func(m *Manifest) { m.Total[0].Value = "29" }, "table rows: the slices together 30, the whole 29"},
		"no metrics":          {func(m *Manifest) { m.Total = nil }, "the whole missing"},
		"metrics of a slice":  {func(m *Manifest) { m.Slices[1].Metrics = nil }, "part 1 has 0"},
		"id":                  {func(m *Manifest) { m.Slices[1].Slice.ID = 0 }, "slice 1 has id 0"},
		"gap":                 {func(m *Manifest) { m.Slices[1].Slice.From = "12" }, `slice 1 begins at "12" where slice 0 ends at "11"`},
		"closed below":        {func(m *Manifest) { m.Slices[0].Slice.From = "1" }, "begins at 1: rows below are in no slice"},
		"closed above":        {func(m *Manifest) { m.Slices[1].Slice.Below = "20" }, "ends below 20: rows above are in no slice"},
		"reversed":            {func(m *Manifest) { m.Slices[1].Slice.Below = "3" }, "slice 1 goes from 11 to 3"},
		"second open below":   {func(m *Manifest) { m.Slices[0].Slice.Below = ""; m.Slices[1].Slice.From = "" }, "slice 1 is open below"},
		"other column":        {func(m *Manifest) { m.Slices[1].Slice.Column = "M" }, `slice 1 splits "M" (decimal), slice 0 splits "N" (decimal)`},
		"two slices of NULLs": {func(m *Manifest) { m.Slices[1].Slice.Shape = IsNull }, "2 slices hold the NULLs"},
		"whole beside others": {func(m *Manifest) { m.Slices[1].Slice.Shape = Whole }, "a slice of every row stands beside 2 others"},
		"unknown shape":       {func(m *Manifest) { m.Slices[1].Slice.Shape = "hash" }, `unknown shape "hash"`},
		"nothing":             {func(m *Manifest) { *m = Manifest{} }, "no slices"},
		"only NULLs":          {func(m *Manifest) { m.Slices = m.Slices[2:] }, "a slice of NULLs stands alone"},
	} {
		m := manifest()
		c.damage(&m)
		if err := m.Check(); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrManifest with %q", name, err, c.want)
		}
	}
	if err := CheckSlices(PlanSingle()); err != nil {
		t.Errorf("the single plan: %v", err)
	}
}

func ExamplePlanRange() {
	slices, _ := PlanRange(Column{Name: "SEQ", Type: Type{Kind: Decimal, Precision: 10}}, Bounds{Min: "1", Max: "120000"}, 3)
	for _, s := range slices {
		fmt.Printf("%d: %q <= %s < %q\n", s.ID, s.From, s.Column, s.Below)
	}
	// Output:
	// 0: "" <= SEQ < "40001"
	// 1: "40001" <= SEQ < "80001"
	// 2: "80001" <= SEQ < ""
}
