package parquet

import (
	"encoding/binary"
	"fmt"

	pq "github.com/parquet-go/parquet-go"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

const (
	// windowRows is how many values are handed to parquet-go at once: few enough to stay in the cache.
	windowRows = 1024

	int96Length = 12
	nanosPerDay = 24 * 60 * 60 * 1_000_000_000
)

// column turns a Vector into the values of one column of a file. Its memory is made once.
type column struct {
	index     int
	name      string
	typ       extract.Type
	length    int // of a decimal
	max, min  extract.Int128
	narrowMax int64
	pageBytes int
	calendar  Calendar
	values    []pq.Value
	arena     []byte // decimals and INT96 of one window
}

func newColumn(index int, c stage.Column, opt Options) *column {
	out := &column{index: index, name: c.Name, typ: c.Type, pageBytes: opt.PageBytes, calendar: opt.Calendar, values: make([]pq.Value, windowRows)}
	switch c.Type.Kind {
	case extract.Decimal:
		out.length = decimalLength(c.Type.Precision)
		out.max = largest(c.Type.Precision)
		out.min = out.max.Neg()
		out.narrowMax = int64(out.max.Lo) // used when it is not Wide
		out.arena = make([]byte, windowRows*out.length)
	case extract.Timestamp:
		out.arena = make([]byte, windowRows*int96Length)
	}
	return out
}

// write hands over the first rows of v, in windows that are also bounded in bytes, so that a page is.
func (c *column) write(out *pq.ColumnWriter, v *extract.Vector, rows int) error {
	if v.Type.Kind != c.typ.Kind || v.Type.Wide() != c.typ.Wide() || v.Type.Kind == extract.Decimal && v.Type.Scale != c.typ.Scale {
		return fmt.Errorf("column %q: a vector of %v for a column of %v", c.name, v.Type, c.typ)
	}
	if v.Len() != rows {
		return fmt.Errorf("column %q: a vector of %d values in a batch of %d rows", c.name, v.Len(), rows)
	}
	for from := 0; from < rows; {
		to := c.window(v, from, rows)
		if err := c.fill(v, from, to); err != nil {
			return err
		}
		if _, err := out.WriteRowValues(c.values[:to-from]); err != nil {
			return fmt.Errorf("column %q: %w", c.name, err)
		}
		from = to
	}
	return nil
}

// window is the end of the window that begins at from.
func (c *column) window(v *extract.Vector, from, rows int) int {
	to := min(from+windowRows, rows)
	if c.typ.Kind != extract.Text && c.typ.Kind != extract.Binary {
		return to
	}
	limit := uint64(c.pageBytes)
	if from > 0 {
		limit += uint64(v.End[from-1])
	}
	for to > from+1 && uint64(v.End[to-1]) > limit {
		to = from + (to-from)/2
	}
	return to
}

// fill makes the values of one window.
func (c *column) fill(v *extract.Vector, from, to int) error {
	var err error
	switch {
	case c.typ.Wide():
		err = c.fillWide(v, from, to)
	case c.typ.Kind == extract.Decimal:
		err = c.fillNarrow(v, from, to)
	case c.typ.Kind == extract.Timestamp:
		err = c.fillTime(v, from, to)
	case c.typ.Kind == extract.Float32:
		for i := from; i < to; i++ {
			c.set(i-from, pq.FloatValue(v.F32[i]))
		}
	case c.typ.Kind == extract.Float64:
		for i := from; i < to; i++ {
			c.set(i-from, pq.DoubleValue(v.F64[i]))
		}
	default:
		for i := from; i < to; i++ {
			c.set(i-from, pq.ByteArrayValue(v.At(i)))
		}
	}
	if err != nil {
		return err
	}
	for i, valid := range v.Valid[from:to] {
		if valid == 0 {
			c.values[i] = pq.NullValue().Level(0, 0, c.index)
		}
	}
	return nil
}

func (c *column) set(i int, v pq.Value) { c.values[i] = v.Level(0, 1, c.index) }

func (c *column) fillNarrow(v *extract.Vector, from, to int) error {
	var full [8]byte
	for i, n := range v.Int[from:to] {
		if n > c.narrowMax || n < -c.narrowMax {
			return c.unfit(extract.FormatDecimal(extract.NewInt128(n), c.typ.Scale))
		}
		binary.BigEndian.PutUint64(full[:], uint64(n))
		p := c.arena[i*c.length : (i+1)*c.length]
		copy(p, full[len(full)-c.length:])
		c.set(i, pq.FixedLenByteArrayValue(p))
	}
	return nil
}

func (c *column) fillWide(v *extract.Vector, from, to int) error {
	var full [16]byte
	for i, n := range v.Wide[from:to] {
		if n.Cmp(c.max) > 0 || n.Cmp(c.min) < 0 {
			return c.unfit(extract.FormatDecimal(n, c.typ.Scale))
		}
		binary.BigEndian.PutUint64(full[:8], uint64(n.Hi))
		binary.BigEndian.PutUint64(full[8:], n.Lo)
		p := c.arena[i*c.length : (i+1)*c.length]
		copy(p, full[len(full)-c.length:])
		c.set(i, pq.FixedLenByteArrayValue(p))
	}
	return nil
}

// fillTime writes INT96: the nanosecond of the day, then the Julian day, both little-endian. (An INT96 column
// takes a byte array of 12 as it is; parquet-go's own Int96Value allocates.)
func (c *column) fillTime(v *extract.Vector, from, to int) error {
	for i, day := range v.Day[from:to] {
		nano := v.Nano[from+i]
		if day < extract.MinDay || day > extract.MaxDay || nano < 0 || nano >= nanosPerDay {
			return c.unfit(fmt.Sprintf("day %d, nanosecond %d", day, nano))
		}
		julian, err := c.calendar.julianDay(day)
		if err != nil {
			return c.unfit(extract.FormatTimestamp(day, nano))
		}
		p := c.arena[i*int96Length : (i+1)*int96Length]
		binary.LittleEndian.PutUint64(p, uint64(nano))
		binary.LittleEndian.PutUint32(p[8:], julian)
		c.set(i, pq.FixedLenByteArrayValue(p))
	}
	return nil
}

func (c *column) unfit(value string) error {
	return fmt.Errorf("column %q of %v: %s: %w", c.name, c.typ, value, extract.ErrValue)
}
