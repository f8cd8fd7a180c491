package extract

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrManifest: a plan or its measured counts break an invariant, so what it proves is nothing. Repeating will not
// mend it.
var ErrManifest = errors.New("manifest is inconsistent")

// CheckSlices proves from the bounds alone that slices are disjoint and hold every value of their column: numbered
// 0..n-1, one column, ranges in order and without gap or overlap, open at both ends, at most one slice of NULLs. Every
// fault is reported.
func CheckSlices(slices []Slice) error {
	if len(slices) == 0 {
		return fmt.Errorf("%w: no slices", ErrManifest)
	}
	var c sliceCheck
	for i, s := range slices {
		if s.ID != i {
			c.fault("slice %d has id %d", i, s.ID)
		}
		c.add(s, slices[0])
	}
	c.end(len(slices))
	return errors.Join(c.errs...)
}

type sliceCheck struct {
	errs   []error
	ranges int
	nulls  int
	wholes int
	last   Slice // the last range
}

func (c *sliceCheck) fault(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%w: "+format, append([]any{ErrManifest}, args...)...))
}

func (c *sliceCheck) add(s, first Slice) {
	switch s.Shape {
	case Whole:
		c.wholes++
		return
	case IsNull:
		c.nulls++
	case Range:
		c.addRange(s)
	default:
		c.fault("slice %d has the unknown shape %q", s.ID, s.Shape)
		return
	}
	if s.Column == "" || s.Column != first.Column || s.Kind != first.Kind {
		c.fault("slice %d splits %q (%s), slice 0 splits %q (%s)", s.ID, s.Column, s.Kind, first.Column, first.Kind)
	}
}

func (c *sliceCheck) addRange(s Slice) {
	c.ranges++
	if c.ranges == 1 {
		if s.From != "" {
			c.fault("slice %d is the first range and begins at %s: rows below are in no slice", s.ID, s.From)
		}
	} else if s.From != c.last.Below {
		c.fault("slice %d begins at %q where slice %d ends at %q: a gap or an overlap", s.ID, s.From, c.last.ID, c.last.Below)
	}
	if c.ranges > 1 && s.From == "" {
		c.fault("slice %d is open below and not the first range", s.ID)
	}
	if s.From != "" && s.Below != "" {
		if order, err := compareValues(s.From, s.Below); err != nil || order >= 0 {
			c.fault("slice %d goes from %s to %s", s.ID, s.From, s.Below)
		}
	}
	c.last = s
}

func (c *sliceCheck) end(n int) {
	if c.ranges > 0 && c.last.Below != "" {
		c.fault("slice %d is the last range and ends below %s: rows above are in no slice", c.last.ID, c.last.Below)
	}
	if c.nulls > 1 {
		c.fault("%d slices hold the NULLs", c.nulls)
	}
	if c.nulls > 0 && c.ranges == 0 {
		c.fault("a slice of NULLs stands alone")
	}
	if c.wholes > 0 && n > 1 {
		c.fault("a slice of every row stands beside %d others", n-1)
	}
}

// Check proves the cover: the slices are sound, no row is in none of them, their counts add up to the rows of the
// query as counted beside them, and their metrics to the metrics of the whole. Every fault is reported.
func (m Manifest) Check() error {
	slices := make([]Slice, len(m.Slices))
	parts := make([][]Metric, len(m.Slices))
	var c sliceCheck
	sum := int64(0)
	for i, s := range m.Slices {
		slices[i], parts[i] = s.Slice, s.Metrics
		if s.Rows < 0 {
			c.fault("slice %d has %d rows", s.Slice.ID, s.Rows)
		}
		sum += s.Rows
		for _, metric := range s.Metrics {
			if metric.What == Rows && metric.Value != strconv.FormatInt(s.Rows, 10) {
				c.fault("slice %d has %d rows by its count and %s by its metric", s.Slice.ID, s.Rows, metric.text())
			}
		}
	}
	if m.Stray != 0 {
		c.fault("%d rows are in no slice", m.Stray)
	}
	if sum != m.Rows {
		c.fault("the slices have %d rows, the table has %d", sum, m.Rows)
	}
	c.checkTotal(parts, m.Total)
	return errors.Join(CheckSlices(slices), errors.Join(c.errs...))
}

func (c *sliceCheck) checkTotal(parts [][]Metric, total []Metric) {
	merged, err := Merge(parts...)
	if err != nil {
		c.fault("%v", err)
		return
	}
	for _, d := range Compare(merged, total) {
		c.fault("%s", d.Text("the slices together", "the whole"))
	}
}
