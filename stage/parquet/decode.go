package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// columnReader reads one column, page by page, into a Vector.
type columnReader struct {
	name     string
	leaf     int // index of the column in the file
	typ      extract.Type
	append   func(c *columnReader, v *extract.Vector, values []pq.Value) error
	max      extract.Int128 // of a decimal
	min      extract.Int128
	calendar Calendar

	pages  pq.ColumnChunkValueReader
	values []pq.Value
}

// newColumnReader checks that the file has the column, as the profile has it.
func newColumnReader(c stage.Column, leaf *pq.Column, calendar Calendar) (*columnReader, error) {
	if leaf == nil {
		return nil, fmt.Errorf("column %q is missing: %w", c.Name, stage.ErrMismatch)
	}
	mismatch := func() error {
		return fmt.Errorf("column %q is %v, want %v: %w", c.Name, leaf, c.Type, stage.ErrMismatch)
	}
	if !leaf.Leaf() || !leaf.Optional() {
		return nil, mismatch()
	}
	r := &columnReader{name: c.Name, leaf: leaf.Index(), typ: c.Type, calendar: calendar, values: make([]pq.Value, readStep)}
	kind, ok := leaf.Type().Kind(), false
	switch c.Type.Kind {
	case extract.Decimal:
		r.append, r.max = appendDecimals, largest(c.Type.Precision)
		r.min = r.max.Neg()
		ok = kind == pq.FixedLenByteArray && isDecimal(leaf.Type(), c.Type)
	case extract.Timestamp:
		r.append, ok = appendTimes, kind == pq.Int96
		if kind == pq.Int64 {
			r.append, ok = appendMicros, isWallClock(leaf.Type())
		}
	case extract.Text:
		r.append, ok = appendBytes, kind == pq.ByteArray && isText(leaf.Type())
	case extract.Binary:
		r.append, ok = appendBytes, kind == pq.ByteArray && leaf.Type().LogicalType() == nil
	case extract.Float32:
		r.append, ok = appendFloats, kind == pq.Float
	case extract.Float64:
		r.append, ok = appendDoubles, kind == pq.Double
	}
	if !ok {
		return nil, mismatch()
	}
	return r, nil
}

func isDecimal(t pq.Type, want extract.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	d, ok := l.Value.(*format.DecimalType)
	return ok && int(d.Precision) == want.Precision && int(d.Scale) == want.Scale
}

func isText(t pq.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	_, ok := l.Value.(*format.StringType)
	return ok
}

// isWallClock says whether a type is of microseconds that no zone shifts.
func isWallClock(t pq.Type) bool {
	l := t.LogicalType()
	if l == nil {
		return false
	}
	ts, ok := l.Value.(*format.TimestampType)
	if !ok || ts.IsAdjustedToUTC {
		return false
	}
	_, ok = ts.Unit.Value.(*format.MicroSeconds)
	return ok
}

func (c *columnReader) open(chunk pq.ColumnChunk) { c.pages = pq.NewColumnChunkValueReader(chunk) }

func (c *columnReader) close() error {
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages = nil
	return err
}

// read appends the next n values.
func (c *columnReader) read(v *extract.Vector, n int) (err error) {
	defer recoverTo(&err)
	for n > 0 {
		got, err := c.pages.ReadValues(c.values[:n])
		if errAppend := c.append(c, v, c.values[:got]); errAppend != nil {
			return errAppend
		}
		n -= got
		if n > 0 && errors.Is(err, io.EOF) {
			return fmt.Errorf("it ends %d values early: %w", n, stage.ErrMismatch)
		}
		if n > 0 && err != nil {
			return err
		}
	}
	return nil
}

func appendDecimals(c *columnReader, v *extract.Vector, values []pq.Value) error {
	for _, value := range values {
		if value.IsNull() {
			v.Null()
			continue
		}
		n, ok := extract.FromFixed(value.ByteArray())
		if !ok || n.Cmp(c.max) > 0 || n.Cmp(c.min) < 0 {
			return fmt.Errorf("% x is no %v: %w", value.ByteArray(), c.typ, stage.ErrMismatch)
		}
		if c.typ.Wide() {
			v.AppendWide(n)
		} else {
			v.AppendInt(int64(n.Lo))
		}
	}
	return nil
}

func appendTimes(c *columnReader, v *extract.Vector, values []pq.Value) error {
	for _, value := range values {
		if value.IsNull() {
			v.Null()
			continue
		}
		p := value.ByteArray()
		nano := binary.LittleEndian.Uint64(p)
		day, ok := c.calendar.day(binary.LittleEndian.Uint32(p[8:]))
		if !ok || nano >= nanosPerDay || day < extract.MinDay || day > extract.MaxDay {
			return fmt.Errorf("% x is no timestamp of the years 1..9999: %w", p, stage.ErrMismatch)
		}
		v.AppendTime(day, int64(nano))
	}
	return nil
}

func appendMicros(_ *columnReader, v *extract.Vector, values []pq.Value) error {
	for _, value := range values {
		if value.IsNull() {
			v.Null()
			continue
		}
		micros := value.Int64()
		day := micros / microsPerDay
		if micros %= microsPerDay; micros < 0 {
			day, micros = day-1, micros+microsPerDay
		}
		if day < extract.MinDay || day > extract.MaxDay {
			return fmt.Errorf("%d microseconds are no timestamp of the years 1..9999: %w", value.Int64(), stage.ErrMismatch)
		}
		v.AppendTime(int32(day), micros*1000)
	}
	return nil
}

func appendBytes(_ *columnReader, v *extract.Vector, values []pq.Value) error {
	for _, value := range values {
		if value.IsNull() {
			v.Null()
			continue
		}
		v.AppendBytes(value.ByteArray())
	}
	return nil
}

func appendFloats(_ *columnReader, v *extract.Vector, values []pq.Value) error {
	for _, value := range values {
		if value.IsNull() {
			v.Null()
			continue
		}
		v.AppendFloat32(value.Float())
	}
	return nil
}

func appendDoubles(_ *columnReader, v *extract.Vector, values []pq.Value) error {
	for _, value := range values {
		if value.IsNull() {
			v.Null()
			continue
		}
		v.AppendFloat64(value.Double())
	}
	return nil
}
