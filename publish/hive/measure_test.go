package hive

import (
	"math/big"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish/hive/hs2"
)

func TestReadDecimal(t *testing.T) {
	for _, tt := range []struct {
		in    string
		scale int
		want  string // "" means an error
	}{
		{"71853075", 2, "71853075.00"},
		{"71853075.0", 2, "71853075.00"},
		{"-0.50", 2, "-0.50"},
		{"0", 2, "0.00"},
		{"0.00", 2, "0.00"},
		{"7", 0, "7"},
		{"7.000", 0, "7"},
		{"0.000000000000000000000000000001", 30, "0.000000000000000000000000000001"},
		{"99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999"},
		{"1.005", 2, ""},
		{"1E5", 2, ""},
		{"1_0", 2, ""},
		{"", 2, ""},
	} {
		got, err := readDecimal(tt.in, tt.scale)
		if (err != nil) != (tt.want == "") || got != tt.want {
			t.Errorf("readDecimal(%q, %d) = %q, %v, want %q", tt.in, tt.scale, got, err, tt.want)
		}
	}
}

// The sum is put together exactly for every scale, whatever the signs of the parts.
func TestReadParts(t *testing.T) {
	for scale := range 39 {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(19), nil)
		for _, text := range []string{strings.Repeat("9", 38), "-" + strings.Repeat("9", 38), "1", "-1", "0", "-10000000000000000000"} {
			n, _ := new(big.Int).SetString(text, 10)
			high, low := new(big.Int).QuoRem(n, unit, new(big.Int))
			got, err := readParts(high.String(), scaled(low, scale), scale)
			if want := scaled(n, scale); err != nil || got != want {
				t.Errorf("scale %d: %s = %q, %v, want %q", scale, text, got, err, want)
			}
		}
	}
}

func TestMetricsTellNull(t *testing.T) {
	d := extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 2}
	p := plan()
	p.Target.Columns[2].Type = d
	ts, err := terms(p.Target.Columns, []extract.Measure{
		{What: extract.Rows}, {Column: "RATIO", Type: d, What: extract.NonNull}, {Column: "RATIO", Type: d, What: extract.Sum},
		{Column: "BACK`TICK", Type: extract.Type{Kind: extract.Timestamp}, What: extract.Min}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := metrics([]hs2.Value{{Text: "3"}, {Text: "0"}, {Null: true}, {Null: true}, {Text: "2026-01-02 03:04:05.100"}}, ts)
	if err != nil {
		t.Fatal(err)
	}
	want := []extract.Metric{{What: extract.Rows, Value: "3"}, {Column: "RATIO", What: extract.NonNull, Value: "0"},
		{Column: "RATIO", What: extract.Sum, Null: true}, {Column: "BACK`TICK", What: extract.Min, Value: "2026-01-02 03:04:05.1"}}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("metric %d = %+v, want %+v", i, got[i], want[i])
		}
	}
	for _, row := range [][]hs2.Value{nil, make([]hs2.Value, 4), make([]hs2.Value, 6)} {
		if _, err := metrics(row, ts); err == nil {
			t.Errorf("a row of %d values was taken for 5", len(row))
		}
	}
}

func TestTermsRefuse(t *testing.T) {
	text := extract.Type{Kind: extract.Text}
	for _, m := range []extract.Measure{{Column: "NOPE", What: extract.NonNull}, {Column: "한글$#", Type: text, What: extract.Sum}, {Column: "한글$#", Type: text, What: "median"}} {
		if _, err := terms(plan().Target.Columns, []extract.Measure{m}); err == nil {
			t.Errorf("%+v was taken", m)
		}
	}
}
