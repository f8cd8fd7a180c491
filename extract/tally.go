package extract

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
)

// Tally computes measures from batches as they pass, exactly and without allocation a row. Tallies of parts of
// a stream merge into that of the whole. The zero value is not ready: see NewTally.
type Tally struct {
	measures []Measure
	rows     int64
	cols     []columnTally // one a measured column
	of       []int         // measure -> index in cols; -1 for the table's rows
}

// columnTally is what is known of one column so far.
type columnTally struct {
	index   int // in Batch.Cols
	typ     Type
	deep    bool // more than the count is asked for
	nonNull int64

	sum   Int128
	spill *big.Int // what sum could no longer hold; nil until then

	minInt, maxInt   int64
	minWide, maxWide Int128
	minTime, maxTime instant
}

type instant struct {
	day  int32
	nano int64
}

func (a instant) before(b instant) bool {
	return a.day < b.day || (a.day == b.day && a.nano < b.nano)
}

// NewTally prepares to compute ms over batches of cols. Every measure that cannot be computed is named.
func NewTally(cols []Column, ms []Measure) (*Tally, error) {
	t := &Tally{measures: ms, of: make([]int, len(ms))}
	seen := map[string]int{}
	var errs []error
	for i, m := range ms {
		if m.What == Rows && m.Column == "" {
			t.of[i] = -1
			continue
		}
		at, ok := seen[m.Column]
		if !ok {
			index := indexOf(cols, m.Column)
			if index < 0 {
				errs = append(errs, fmt.Errorf("measure %s of %q: %w", m.What, m.Column, ErrNoColumn))
				continue
			}
			at = len(t.cols)
			seen[m.Column] = at
			t.cols = append(t.cols, columnTally{index: index, typ: cols[index].Type})
		}
		if !Measurable(t.cols[at].typ, m.What) {
			errs = append(errs, fmt.Errorf("measure %s of %q, which is %s: %w", m.What, m.Column, t.cols[at].typ, ErrUnsupported))
			continue
		}
		t.of[i] = at
		t.cols[at].deep = t.cols[at].deep || m.What != NonNull
	}
	return t, errors.Join(errs...)
}

func indexOf(cols []Column, name string) int {
	for i, c := range cols {
		if c.Name == name {
			return i
		}
	}
	return -1
}

// Rows is the number of rows added so far.
func (t *Tally) Rows() int64 { return t.rows }

// Add counts the rows of b.
func (t *Tally) Add(b *Batch) {
	t.rows += int64(b.Rows)
	for i := range t.cols {
		c := &t.cols[i]
		v := &b.Cols[c.index]
		switch {
		case !c.deep:
			c.count(v)
		case c.typ.Wide():
			c.addWide(v)
		case c.typ.Kind == Decimal:
			c.addInt(v)
		case c.typ.Kind == Timestamp:
			c.addTime(v)
		}
	}
}

func (c *columnTally) count(v *Vector) {
	n := int64(0)
	for _, valid := range v.Valid {
		n += int64(valid)
	}
	c.nonNull += n
}

func (c *columnTally) addInt(v *Vector) {
	// 2^64 values of 63 bits fit 128 bits, so the sum of narrow decimals cannot overflow within a batch.
	hi, lo := int64(0), uint64(0)
	for i, n := range v.Int {
		if v.Valid[i] == 0 {
			continue
		}
		var carry uint64
		lo, carry = bits.Add64(lo, uint64(n), 0)
		hi += n>>63 + int64(carry)
		if c.nonNull == 0 {
			c.minInt, c.maxInt = n, n
		}
		c.minInt, c.maxInt = min(c.minInt, n), max(c.maxInt, n)
		c.nonNull++
	}
	c.plus(Int128{Hi: hi, Lo: lo})
}

func (c *columnTally) addWide(v *Vector) {
	for i, n := range v.Wide {
		if v.Valid[i] == 0 {
			continue
		}
		c.plus(n)
		if c.nonNull == 0 || n.Cmp(c.minWide) < 0 {
			c.minWide = n
		}
		if c.nonNull == 0 || n.Cmp(c.maxWide) > 0 {
			c.maxWide = n
		}
		c.nonNull++
	}
}

func (c *columnTally) addTime(v *Vector) {
	for i, day := range v.Day {
		if v.Valid[i] == 0 {
			continue
		}
		at := instant{day, v.Nano[i]}
		if c.nonNull == 0 || at.before(c.minTime) {
			c.minTime = at
		}
		if c.nonNull == 0 || c.maxTime.before(at) {
			c.maxTime = at
		}
		c.nonNull++
	}
}

// plus adds to the sum. What 128 bits no longer hold moves to a big integer, which a table of large numbers
// needs about once in 1.7 rows of 38 digits and every other table never.
func (c *columnTally) plus(n Int128) {
	sum, ok := c.sum.Add(n)
	if ok {
		c.sum = sum
		return
	}
	if c.spill == nil {
		c.spill = new(big.Int)
	}
	c.spill.Add(c.spill, c.sum.Big())
	c.sum = n
}

// Merge adds what o has counted. Both must have been made for the same columns and measures.
func (t *Tally) Merge(o *Tally) error {
	if len(t.cols) != len(o.cols) {
		return fmt.Errorf("merge tallies: %d columns and %d", len(t.cols), len(o.cols))
	}
	for i := range t.cols {
		if t.cols[i].index != o.cols[i].index || t.cols[i].typ != o.cols[i].typ {
			return fmt.Errorf("merge tallies: column %d is %s in one and %s in the other", i, t.cols[i].typ, o.cols[i].typ)
		}
	}
	t.rows += o.rows
	for i := range t.cols {
		t.cols[i].merge(&o.cols[i])
	}
	return nil
}

func (c *columnTally) merge(o *columnTally) {
	if o.nonNull == 0 {
		return
	}
	if c.nonNull == 0 {
		c.minInt, c.maxInt = o.minInt, o.maxInt
		c.minWide, c.maxWide = o.minWide, o.maxWide
		c.minTime, c.maxTime = o.minTime, o.maxTime
	}
	c.nonNull += o.nonNull
	c.plus(o.sum)
	if o.spill != nil {
		if c.spill == nil {
			c.spill = new(big.Int)
		}
		c.spill.Add(c.spill, o.spill)
	}
	c.minInt, c.maxInt = min(c.minInt, o.minInt), max(c.maxInt, o.maxInt)
	if o.minWide.Cmp(c.minWide) < 0 {
		c.minWide = o.minWide
	}
	if o.maxWide.Cmp(c.maxWide) > 0 {
		c.maxWide = o.maxWide
	}
	if o.minTime.before(c.minTime) {
		c.minTime = o.minTime
	}
	if c.maxTime.before(o.maxTime) {
		c.maxTime = o.maxTime
	}
}

// Metrics are the values so far, in the order of the measures.
func (t *Tally) Metrics() []Metric {
	out := make([]Metric, len(t.measures))
	for i, m := range t.measures {
		out[i] = Metric{Column: m.Column, What: m.What}
		if t.of[i] < 0 {
			out[i].Value = formatBig(big.NewInt(t.rows), 0)
			continue
		}
		c := &t.cols[t.of[i]]
		if m.What == NonNull {
			out[i].Value = formatBig(big.NewInt(c.nonNull), 0)
			continue
		}
		if c.nonNull == 0 {
			out[i].Null = true
			continue
		}
		out[i].Value = c.value(m.What)
	}
	return out
}

func (c *columnTally) value(w What) string {
	switch w {
	case Sum:
		total := c.sum.Big()
		if c.spill != nil {
			total.Add(total, c.spill)
		}
		return formatBig(total, c.typ.Scale)
	case Min:
		return c.extreme(c.minInt, c.minWide, c.minTime)
	default:
		return c.extreme(c.maxInt, c.maxWide, c.maxTime)
	}
}

func (c *columnTally) extreme(narrow int64, wide Int128, at instant) string {
	switch {
	case c.typ.Kind == Timestamp:
		return FormatTimestamp(at.day, at.nano)
	case c.typ.Wide():
		return FormatDecimal(wide, c.typ.Scale)
	default:
		return FormatDecimal(NewInt128(narrow), c.typ.Scale)
	}
}
