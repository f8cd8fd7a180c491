package generate

import (
	"fmt"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Cycle is after how many rows every column but a Sequence repeats.
const Cycle = 1 << 14

// Column is one column and how it is filled.
type Column struct {
	ora.Column
	Rule  Rule
	Nulls int // per cent of the rows that are NULL
}

// Table is a computed table. It never changes and may be read from any goroutine.
type Table struct {
	rows      int64
	columns   []Column
	cycle     [][]ora.Value // row of the cycle, column; nil in the columns of a Sequence
	sequences []int         // which columns are a Sequence
	sums      []columnSums  // by column
}

// New makes a table of some number of rows. An error names what is wrong with a column.
func New(rows int64, seed uint64, columns []Column) (*Table, error) {
	if rows < 0 || len(columns) == 0 {
		return nil, fmt.Errorf("generate table: %d rows of %d columns", rows, len(columns))
	}
	t := &Table{rows: rows, columns: columns, cycle: make([][]ora.Value, Cycle)}
	for i, c := range columns {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("generate column %s: %w", c.Name, err)
		}
		if _, ok := c.Rule.(Sequence); ok {
			t.sequences = append(t.sequences, i)
		}
	}
	for n := range t.cycle {
		t.cycle[n] = t.makeRow(n, seed)
	}
	t.sums = t.prefixSums()
	return t, nil
}

func (c *Column) check() error {
	if c.Nulls < 0 || c.Nulls > 100 {
		return fmt.Errorf("%d per cent of NULLs", c.Nulls)
	}
	switch r := c.Rule.(type) {
	case nil:
		return fmt.Errorf("no rule")
	case Sequence:
		if r.Step == 0 || c.Nulls != 0 || c.Type.Code != ora.Number {
			return fmt.Errorf("a sequence is a NUMBER with a step and without NULLs")
		}
	case Choice:
		if len(r.Values) == 0 {
			return fmt.Errorf("nothing to choose from")
		}
	case Decimals:
		if r.High < r.Low || r.Scale < 0 || r.Scale > 18 {
			return fmt.Errorf("decimals from %d to %d with scale %d", r.Low, r.High, r.Scale)
		}
	}
	return nil
}

// makeRow makes a row of the cycle. The values of a column depend on nothing but its place, so that another
// column changes nothing.
func (t *Table) makeRow(n int, seed uint64) []ora.Value {
	row := make([]ora.Value, len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		if _, ok := c.Rule.(Sequence); ok {
			continue
		}
		r := digits(seed*0x2545F4914F6CDD1D + uint64(i)<<40 + uint64(n))
		r = digits(r.next())
		if int(r.below(100)) >= c.Nulls {
			row[i] = c.Rule.value(&r)
		}
	}
	return row
}

// Rows is how many rows there are; the first is row 0.
func (t *Table) Rows() int64 { return t.rows }

// Columns describes them.
func (t *Table) Columns() []ora.Column {
	list := make([]ora.Column, len(t.columns))
	for i := range t.columns {
		list[i] = t.columns[i].Column
	}
	return list
}

// Key is the first column that is a Sequence, by which rows can be found; -1 when there is none.
func (t *Table) Key() int {
	if len(t.sequences) == 0 {
		return -1
	}
	return t.sequences[0]
}

// Row appends the values of a row to dst. They must not be changed; those of Sequences are made in arena,
// which is returned with them.
func (t *Table) Row(n int64, dst []ora.Value, arena []byte) ([]ora.Value, []byte) {
	from := len(dst)
	dst = append(dst, t.cycle[n%Cycle]...)
	for _, i := range t.sequences {
		s := t.columns[i].Rule.(Sequence)
		at := len(arena)
		arena = appendInt(arena, s.Start+n*s.Step)
		dst[from+i] = arena[at:len(arena):len(arena)]
	}
	return dst, arena
}

// appendInt is the internal form of an integer.
func appendInt(dst []byte, i int64) []byte {
	x := ora.NumFromInt(i)
	return x.Append(dst)
}

// Range is the rows from the first whose key is at least low to the last whose key is at most high, as a
// half-open range; a nil bound is none. The table must have a Key that counts up.
func (t *Table) Range(low, high *int64) (from, to int64) {
	s := t.columns[t.Key()].Rule.(Sequence)
	from, to = 0, t.rows
	if low != nil {
		from = max(from, ceilDiv(*low-s.Start, s.Step))
	}
	if high != nil {
		to = min(to, floorDiv(*high-s.Start, s.Step)+1)
	}
	return min(from, t.rows), max(to, min(from, t.rows))
}

// Ascending says whether rows can be found by a key: there is one and it counts up.
func (t *Table) Ascending() bool {
	k := t.Key()
	return k >= 0 && t.columns[k].Rule.(Sequence).Step > 0
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
