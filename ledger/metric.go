package ledger

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Stage is where a metric was measured.
type Stage string

// The stages, upstream first.
const (
	StageSource  Stage = "source"  // by the source, at the SCN
	StageStream  Stage = "stream"  // by the reader, over the rows that it wrote
	StageSealed  Stage = "sealed"  // by reading the sealed files back
	StageStaging Stage = "staging" // by the warehouse, over the staging table
	StageTarget  Stage = "target"  // by the warehouse, over the target
)

// Names of metrics that have a meaning here. Others (sum, min, max) are compared as they are.
const (
	MetricRows     = "rows"     // of the whole; its column is empty
	MetricNonNull  = "nonnull"  // of a column: how many of its values are not NULL
	MetricDigest   = "digest"   // of a column's content, as only our own reader and writer can compute it
	MetricChecksum = "checksum" // of a column's content, as only a warehouse can compute it
)

// Metric is one measured value: exact text, nil for SQL NULL. Column is empty for what is no column's.
type Metric struct {
	Column string
	Name   string
	Value  *string
}

// Value makes a Metric that is not NULL.
func Value(column, name, value string) Metric {
	return Metric{Column: column, Name: name, Value: &value}
}

// Diff is one comparison that failed.
type Diff struct {
	Column     string  `json:"column,omitempty"`
	Metric     string  `json:"metric"`
	Upstream   Stage   `json:"upstream"`
	Downstream Stage   `json:"downstream"`
	Want       *string `json:"want"` // upstream's value
	Got        *string `json:"got"`  // downstream's value
	Why        string  `json:"why"`
}

func (d Diff) String() string {
	name := d.Metric
	if d.Column != "" {
		name = d.Column + " " + d.Metric
	}
	return fmt.Sprintf("%s: %s has %s, %s has %s (%s)", name, d.Upstream, show(d.Want), d.Downstream, show(d.Got), d.Why)
}

func show(v *string) string {
	if v == nil {
		return "nothing"
	}
	return *v
}

// metricKey names a metric within a stage.
type metricKey struct{ column, name string }

// Compare says where downstream differs from upstream. No metrics at all differ. Equality is exact: the same text, or
// the same decimal number. A value that is NULL although the column has values differs, on either side.
//
// With subset, upstream says what is compared and downstream may have measured more (source against stream: the source
// measures few columns). Without it, what only one side has measured differs, so that nothing can be left out.
func Compare(upstream, downstream Stage, up, down []Metric, subset bool) []Diff {
	want, got := byKey(up), byKey(down)
	keys := keysOf(want)
	if !subset {
		for k := range got {
			if _, ok := want[k]; !ok {
				keys = append(keys, k)
			}
		}
	}
	slices.SortFunc(keys, func(a, b metricKey) int { return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.name, b.name)) })
	var diffs []Diff
	for _, k := range keys {
		if why := differs(k, want, got); why != "" {
			diffs = append(diffs, Diff{Column: k.column, Metric: k.name, Upstream: upstream, Downstream: downstream,
				Want: want[k], Got: got[k], Why: why})
		}
	}
	if len(up) == 0 || len(down) == 0 {
		diffs = append(diffs, Diff{Metric: "all", Upstream: upstream, Downstream: downstream, Why: "no metrics"})
	}
	return diffs
}

// differs says why the values of one metric are not equal, or nothing.
func differs(k metricKey, want, got map[metricKey]*string) string {
	w, inWant := want[k]
	g, inGot := got[k]
	switch {
	case !inWant || !inGot:
		return "measured on one side only"
	case w == nil && g == nil:
		if hasNone(k, want) && hasNone(k, got) {
			return ""
		}
		return "NULL although the column has values"
	case w == nil || g == nil:
		return "NULL on one side"
	case !equal(*w, *g):
		return "not equal"
	}
	return ""
}

// hasNone says whether the column of k is known to have no value at all.
func hasNone(k metricKey, in map[metricKey]*string) bool {
	n := in[metricKey{k.column, MetricNonNull}]
	return k.column != "" && n != nil && equal(*n, "0")
}

func byKey(ms []Metric) map[metricKey]*string {
	out := make(map[metricKey]*string, len(ms))
	for _, m := range ms {
		out[metricKey{m.Column, m.Name}] = m.Value
	}
	return out
}

func keysOf(m map[metricKey]*string) []metricKey {
	keys := make([]metricKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

var decimal = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// equal compares exactly: 71853075.00 is 71853075, and no float is ever made of either.
func equal(a, b string) bool {
	return a == b || decimal.MatchString(a) && decimal.MatchString(b) && canonical(a) == canonical(b)
}

// canonical strips what does not change a decimal's value.
func canonical(s string) string {
	s, negative := strings.CutPrefix(s, "-")
	s = strings.TrimLeft(s, "0")
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	switch {
	case s == "":
		return "0"
	case negative:
		return "-" + s
	}
	return s
}
