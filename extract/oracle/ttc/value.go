package ttc

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/loadctl/loadctl/extract"
)

// fault is why a value was not decoded.
type fault uint8

const (
	fine     fault = iota
	short          // not all of it is here yet
	nonsense       // no value looks like this: the session is out of step
	badNumber
	infinite
	beyondScale
	beyondPrecision
	badLength
	badInstant
	beforeChrist
	julianLeapDay
	notUTF8
)

// text says it for people.
func (f fault) text(t extract.Type) string {
	switch f {
	case infinite:
		return "no decimal holds an infinity"
	case beyondScale:
		return fmt.Sprintf("it has more digits after the point than %s keeps", t)
	case beyondPrecision:
		return fmt.Sprintf("it has more digits than %s holds", t)
	case badLength:
		return "its length is not one of this type"
	case badInstant:
		return "no such day or time"
	case beforeChrist:
		return "its year is outside 0001..9999"
	case julianLeapDay:
		return "29 February of the Julian calendar, which the Gregorian one does not have"
	case notUTF8:
		return "it is not UTF-8"
	default:
		return "it is not a number"
	}
}

// fault is the error of the value that column d.at could not take.
func (d *decoder) fault(row int64, value []byte, why fault) error {
	c := &d.columns[d.at]
	return &ValueError{Column: c.name, Row: row, Value: c.show(value), Why: why.text(c.typ)}
}

// show writes a value so that people can look for it.
func (c *decodedColumn) show(value []byte) string {
	const most = 80
	if len(value) > most {
		value = value[:most]
	}
	switch c.form {
	case formNarrow, formWide, formNumberText:
		if text, why := appendNumber(nil, value); why == fine {
			return string(text)
		}
	case formText:
		return fmt.Sprintf("%q", value)
	case formDate, formTimestamp:
		if len(value) >= 7 {
			return showInstant(value)
		}
	}
	return fmt.Sprintf("% x", value)
}

// put appends a value to the column.
func (c *decodedColumn) put(v *extract.Vector, value []byte) fault {
	switch c.form {
	case formNarrow:
		n, why := narrow(value, c.typ.Scale, c.typ.Precision)
		if why == fine {
			v.AppendInt(n)
		}
		return why
	case formWide:
		n, why := wide(value, c.typ.Scale, c.typ.Precision)
		if why == fine {
			v.AppendWide(n)
		}
		return why
	case formText:
		if !utf8.Valid(value) {
			return notUTF8
		}
		v.AppendBytes(value)
		return fine
	case formBinary:
		v.AppendBytes(value)
		return fine
	case formDate, formTimestamp:
		day, nano, why := c.instant(value)
		if why == fine {
			v.AppendTime(day, nano)
		}
		return why
	default:
		return c.putRare(v, value)
	}
}

func (c *decodedColumn) putRare(v *extract.Vector, value []byte) fault {
	switch c.form {
	case formNumberText:
		var text [numberTextLen]byte
		out, why := appendNumber(text[:0], value)
		if why == fine {
			v.AppendBytes(out)
		}
		return why
	case formFloat32:
		if len(value) != 4 {
			return badLength
		}
		v.AppendFloat32(math.Float32frombits(float32Bits(binary.BigEndian.Uint32(value))))
		return fine
	default:
		if len(value) != 8 {
			return badLength
		}
		v.AppendFloat64(math.Float64frombits(float64Bits(binary.BigEndian.Uint64(value))))
		return fine
	}
}

// float32Bits undoes Oracle's form, in which floats sort as their bytes do: the sign is inverted, and of the negative
// ones every bit.
func float32Bits(u uint32) uint32 {
	if u>>31 != 0 {
		return u &^ (1 << 31)
	}
	return ^u
}

// float64Bits is float32Bits for double precision.
func float64Bits(u uint64) uint64 {
	if u>>63 != 0 {
		return u &^ (1 << 63)
	}
	return ^u
}
