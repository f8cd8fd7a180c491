package publishtest

import (
	"math"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

var nines = strings.Repeat("9", 38)

// limits is a table of extremes, and what must be measured of it, computed by hand.
func limits() (cols []stage.Column, rows []row, want []extract.Metric) {
	cols = []stage.Column{column("n", narrow), column("w", whole38), column("r", ratio), column("t", tiny), column("at", times),
		column("txt", text), column("bin", binary), column("f", single), column("d", double)}
	least := "-" + nines[:28] + "." + nines[:10]
	rows = []row{
		{nil, nil, nil, nil, nil, nil, nil, nil, nil},
		{"9999999999999999.99", nines, nines[:28] + "." + nines[:10], nines[:8] + "." + nines[:30], "9999-12-31 23:59:59.999999999", "가나다", []byte{0xff, 0}, float32(1.5), math.MaxFloat64},
		{"-9999999999999999.99", nines, least, "-0." + strings.Repeat("0", 29) + "1", "0001-01-01 00:00:00", "", []byte{}, float32(-0.1), math.SmallestNonzeroFloat64},
		{"9999999999999999.99", nines, "0.0000000001", nines[:8] + "." + nines[:30], "1969-12-31 23:59:59.5", `it's "\"`, []byte("x"), float32(math.Inf(1)), math.Inf(-1)},
		{"0.01", "-1", least, "0", "2026-02-28 12:00:00", "\x01\n\t", nil, nil, nil},
	}
	m := func(column string, what extract.What, value string) extract.Metric {
		return extract.Metric{Column: column, What: what, Value: value}
	}
	want = []extract.Metric{
		m("", extract.Rows, "5"),
		m("n", extract.NonNull, "4"), m("n", extract.Sum, "10000000000000000.00"), m("n", extract.Min, "-9999999999999999.99"), m("n", extract.Max, "9999999999999999.99"),
		// three times 10^38-1, less one
		m("w", extract.NonNull, "4"), m("w", extract.Sum, "2"+nines[:37]+"6"), m("w", extract.Min, "-1"), m("w", extract.Max, nines),
		m("r", extract.NonNull, "4"), m("r", extract.Sum, "-"+nines[:28]+".9999999998"), m("r", extract.Min, least), m("r", extract.Max, nines[:28]+"."+nines[:10]),
		// twice 10^8-10^-30, less 10^-30
		m("t", extract.NonNull, "4"), m("t", extract.Sum, "199999999."+nines[:29]+"7"),
		m("t", extract.Min, "-0."+strings.Repeat("0", 29)+"1"), m("t", extract.Max, nines[:8]+"."+nines[:30]),
		m("at", extract.NonNull, "4"), m("at", extract.Min, "0001-01-01 00:00:00"), m("at", extract.Max, "9999-12-31 23:59:59.999999999"),
		m("txt", extract.NonNull, "4"), m("bin", extract.NonNull, "3"), m("f", extract.NonNull, "3"), m("d", extract.NonNull, "3"),
	}
	return cols, rows, want
}

func measuresAreExact(t *testing.T, h Harness) {
	cols, rows, want := limits()
	x := h.target(t, "limits", cols)
	s := h.seal(t, cols, rows[:2], rows[2:])
	h.publish(t, s, x)
	for where, in := range map[string]publish.Scope{"staging": {Staging: &s}, "target": {Target: &x}} {
		got := map[[2]string]extract.Metric{}
		for _, m := range h.measure(t, in, cols) {
			got[[2]string{m.Column, string(m.What)}] = m
		}
		for _, w := range want {
			if g := got[[2]string{w.Column, string(w.What)}]; g != w {
				t.Errorf("%s: %s of %q = %q (null %t), want %q", where, w.What, w.Column, g.Value, g.Null, w.Value)
			}
		}
	}
	h.equal(t, s, x, "5") // checksums too
}

func nullsStayNull(t *testing.T, h Harness) {
	cols, rows, _ := limits()
	x := h.target(t, "nulls", cols)
	s := h.seal(t, cols, rows[:1], rows[:1])
	h.publish(t, s, x)
	h.equal(t, s, x, "2")
	for _, m := range h.measure(t, publish.Scope{Target: &x}, cols) {
		switch m.What {
		case extract.NonNull:
			if m.Value != "0" {
				t.Errorf("%s of %q = %s, want 0", m.What, m.Column, m.Value)
			}
		case extract.Sum, extract.Min, extract.Max:
			if !m.Null || m.Value != "" {
				t.Errorf("%s of %q = %q, want NULL", m.What, m.Column, m.Value)
			}
		}
	}
}
