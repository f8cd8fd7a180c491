package extract

import (
	"fmt"
	"math/big"
	"strings"
)

type metricKey struct {
	column string
	what   What
}

func (m Metric) key() metricKey { return metricKey{m.Column, m.What} }

func (m Metric) text() string {
	if m.Null {
		return "NULL"
	}
	return m.Value
}

// Merge combines the metrics of disjoint parts into those of the whole: counts, sums and checksums add up,
// extremes compete. Every part must hold the same metrics; they come out in the order of the first part.
func Merge(parts ...[]Metric) ([]Metric, error) {
	if len(parts) == 0 {
		return nil, nil
	}
	out := append([]Metric(nil), parts[0]...)
	for n, part := range parts[1:] {
		if len(part) != len(out) {
			return nil, fmt.Errorf("merge metrics: part %d has %d, part 0 has %d", n+1, len(part), len(out))
		}
		found := index(part)
		for i := range out {
			m, ok := found[out[i].key()]
			if !ok {
				return nil, fmt.Errorf("merge metrics: part %d has no %s of %q", n+1, out[i].What, out[i].Column)
			}
			merged, err := merge(out[i], m)
			if err != nil {
				return nil, fmt.Errorf("merge metric %s of %q: %w", out[i].What, out[i].Column, err)
			}
			out[i] = merged
		}
	}
	return out, nil
}

func index(ms []Metric) map[metricKey]Metric {
	out := make(map[metricKey]Metric, len(ms))
	for _, m := range ms {
		out[m.key()] = m
	}
	return out
}

func merge(a, b Metric) (Metric, error) {
	switch {
	case a.Null:
		return b, nil
	case b.Null:
		return a, nil
	case a.What == Min || a.What == Max:
		return mergeExtreme(a, b)
	}
	x, xs, err := parseBig(a.Value)
	if err != nil {
		return a, err
	}
	y, ys, err := parseBig(b.Value)
	if err != nil {
		return a, err
	}
	if xs != ys {
		return a, fmt.Errorf("%s and %s have different scales", a.Value, b.Value)
	}
	a.Value = formatBig(new(big.Int).Add(x, y), xs)
	return a, nil
}

func mergeExtreme(a, b Metric) (Metric, error) {
	c, err := compareValues(a.Value, b.Value)
	if err != nil {
		return a, err
	}
	if (a.What == Min) == (c <= 0) {
		return a, nil
	}
	return b, nil
}

// compareValues orders two decimals by value, or two timestamps, whose canonical texts sort as they do.
func compareValues(a, b string) (int, error) {
	if strings.Contains(a, ":") && strings.Contains(b, ":") {
		return strings.Compare(a, b), nil
	}
	return CompareDecimal(a, b)
}

// Difference is one metric that two parties do not agree on.
type Difference struct {
	Column string `json:"column"` // "" for the table
	What   What   `json:"what"`
	Left   string `json:"left"` // the value as text; "NULL" where there is none, "missing" where the metric is
	Right  string `json:"right"`
	Reason string `json:"reason,omitempty"` // where both may be equal and still wrong
}

// missing stands for a metric that a side does not have.
const missing = "missing"

// Text says what differs, naming the two sides.
func (d Difference) Text(left, right string) string {
	column := d.Column
	if column == "" {
		column = "table"
	}
	s := fmt.Sprintf("%s %s: %s %s, %s %s", column, d.What, left, d.Left, right, d.Right)
	if d.Reason != "" {
		s += " (" + d.Reason + ")"
	}
	return s
}

// Compare returns every difference between two sets of metrics; none means that they prove the same content.
// Equality is exact, of canonical text. A metric that one side lacks, a value that is NULL although the column
// has values on that side, and two empty sets are differences too: nothing is proved by nothing.
func Compare(left, right []Metric) []Difference {
	if len(left) == 0 && len(right) == 0 {
		return []Difference{{What: Rows, Left: missing, Right: missing, Reason: "no metrics at all"}}
	}
	l, r := index(left), index(right)
	var out []Difference
	for _, m := range left {
		other, ok := r[m.key()]
		switch {
		case !ok:
			out = append(out, difference(m, m.text(), missing, ""))
		case m.Null != other.Null || m.Value != other.Value:
			out = append(out, difference(m, m.text(), other.text(), ""))
		case nullDespiteValues(m, l) || nullDespiteValues(other, r):
			out = append(out, difference(m, m.text(), other.text(), "NULL although the column has values"))
		}
	}
	for _, m := range right {
		if _, ok := l[m.key()]; !ok {
			out = append(out, difference(m, missing, m.text(), ""))
		}
	}
	return out
}

func difference(m Metric, left, right, reason string) Difference {
	return Difference{Column: m.Column, What: m.What, Left: left, Right: right, Reason: reason}
}

func nullDespiteValues(m Metric, all map[metricKey]Metric) bool {
	if !m.Null {
		return false
	}
	count, ok := all[metricKey{m.Column, NonNull}]
	return m.What == NonNull || m.What == Rows || (ok && count.Value != "0")
}
