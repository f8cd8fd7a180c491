package ttc

import (
	"fmt"

	"github.com/loadctl/loadctl/extract"
)

// Types of columns.
const (
	typeNumber       = 2
	typeDate         = 12
	typeRaw          = 23
	typeChar         = 96
	typeBinaryFloat  = 100
	typeBinaryDouble = 101
	typeTimestamp    = 180
	typeTimestampTZ  = 181
	typeIntervalDS   = 183
	typeTimestampLTZ = 231
)

const formNational = 2

// Column is a column of a result as the server describes it.
type Column struct {
	Name      string
	Type      byte
	Precision int
	Scale     int
	Length    int // bytes; 0: always NULL, and not in the rows
	National  bool
}

const mostColumns = 1000

// describe reads the description of a result.
func (s *Session) describe() []Column {
	in := s.in
	in.skip(1)
	in.clr()
	in.int()
	n := in.count(mostColumns)
	if n > 0 {
		in.skip(1)
	}
	var out []Column
	for ; n > 0 && in.err == nil && !in.void; n-- {
		out = append(out, s.describeColumn())
	}
	in.dalc() // date
	in.ints(4)
	in.dalc() // key of the query cache
	return out
}

func (s *Session) describeColumn() Column {
	in := s.in
	var c Column
	c.Type = in.u1()
	in.skip(1)
	c.Precision = int(in.u1())
	c.Scale = in.scale(c.Type)
	c.Length = int(in.int())
	in.ints(2)
	in.dalc() // object type
	in.ints(2)
	c.National = in.u1() == formNational
	in.int()
	if s.fieldVersion >= 8 {
		in.int() // collation
	}
	in.skip(2) // nullable, a length
	c.Name = string(in.dalc())
	in.dalc() // schema and type
	in.dalc()
	in.ints(2)
	return c
}

// scale is an integer for types that have one, and a byte for the others.
func (in *input) scale(kind byte) int {
	switch kind {
	case typeNumber, typeTimestamp, typeTimestampTZ, typeTimestampLTZ, typeIntervalDS:
		return int(in.int())
	}
	return int(int8(in.u1()))
}

// form is how the values of a column are decoded.
type form uint8

const (
	formNone form = iota // always NULL, no byte in the row
	formNarrow
	formWide
	formNumberText
	formText
	formBinary
	formDate
	formTimestamp
	formFloat32
	formFloat64
)

// formOf says how a column of the server's becomes a column of a batch.
func formOf(c Column, as extract.Column) (form, error) {
	if c.Length == 0 {
		return formNone, nil
	}
	kind := as.Type.Kind
	switch {
	case c.Type == typeNumber && as.Type.Wide():
		return formWide, nil
	case c.Type == typeNumber && kind == extract.Decimal:
		return formNarrow, nil
	case c.Type == typeNumber && kind == extract.Text:
		return formNumberText, nil
	case (c.Type == typeVarchar2 || c.Type == typeChar) && !c.National && kind == extract.Text:
		return formText, nil
	case c.Type == typeRaw && kind == extract.Binary:
		return formBinary, nil
	case c.Type == typeDate && kind == extract.Timestamp:
		return formDate, nil
	case c.Type == typeTimestamp && kind == extract.Timestamp:
		return formTimestamp, nil
	case c.Type == typeBinaryFloat && kind == extract.Float32:
		return formFloat32, nil
	case c.Type == typeBinaryDouble && kind == extract.Float64:
		return formFloat64, nil
	}
	return 0, &UnsupportedError{
		What:     fmt.Sprintf("column %q, which is %s (type %d) and is wanted as %s", as.Name, as.Declared, c.Type, as.Type),
		Declared: as.Declared,
	}
}
