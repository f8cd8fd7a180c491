package sql

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// class groups the types that are computed with in the same way.
type class uint8

const (
	classNumber class = iota
	classFloat        // BINARY_FLOAT, BINARY_DOUBLE
	classText
	classLob // CLOB, LONG: text that cannot be compared
	classDate
	classTimestamp
	classTZ
	classLTZ
	classRaw
	classBlob
	classRowid
	classMonths // INTERVAL YEAR TO MONTH
	classSpan   // INTERVAL DAY TO SECOND
	classOther
)

func classOf(t ora.Type) class {
	switch t.Code {
	case ora.Number:
		return classNumber
	case ora.BinaryFloat, ora.BinaryDouble:
		return classFloat
	case ora.Varchar2, ora.Char:
		return classText
	case ora.Clob, ora.Long:
		return classLob
	case ora.Date:
		return classDate
	case ora.Timestamp:
		return classTimestamp
	case ora.TimestampTZ:
		return classTZ
	case ora.TimestampLTZ:
		return classLTZ
	case ora.Raw:
		return classRaw
	case ora.Blob, ora.LongRaw:
		return classBlob
	case ora.Rowid, ora.Urowid:
		return classRowid
	case ora.IntervalYM:
		return classMonths
	case ora.IntervalDS:
		return classSpan
	}
	return classOther
}

// isLob says whether a type is a LOB, for which no bytes are a value and only nil is NULL.
func isLob(t ora.Type) bool { return t.Code == ora.Clob || t.Code == ora.Blob }

// absent says whether a value of a type is NULL.
func absent(t ora.Type, v ora.Value) bool { return v == nil || len(v) == 0 && !isLob(t) }

// name is how ORA-00932 calls a class.
func (c class) name() string {
	return [...]string{"NUMBER", "BINARY_DOUBLE", "CHAR", "CLOB", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE",
		"TIMESTAMP WITH LOCAL TIME ZONE", "BINARY", "BLOB", "ROWID", "INTERVAL YEAR TO MONTH", "INTERVAL DAY TO SECOND", "-"}[c]
}

func mismatch(pos int, want, got class) error {
	return errAt(pos, 932, "inconsistent datatypes: expected %s got %s", want.name(), got.name())
}

// plainType is the widest type of a class.
func plainType(c class) ora.Type {
	switch c {
	case classNumber:
		return numberType()
	case classFloat:
		return ora.Type{Code: ora.BinaryDouble, Bytes: 8}
	case classText:
		return textType(maxVarchar)
	case classLob:
		return ora.Type{Code: ora.Clob, Form: ora.FormDatabase, Bytes: maxVarchar}
	case classDate:
		return dateType()
	case classTimestamp:
		return ora.Type{Code: ora.Timestamp, Scale: 9, Bytes: 11}
	case classTZ:
		return ora.Type{Code: ora.TimestampTZ, Scale: 9, Bytes: 13}
	case classLTZ:
		return ora.Type{Code: ora.TimestampLTZ, Scale: 9, Bytes: 11}
	case classRaw:
		return ora.Type{Code: ora.Raw, Bytes: maxRaw}
	case classBlob:
		return ora.Type{Code: ora.Blob, Bytes: maxVarchar}
	case classRowid:
		return rowidType()
	case classMonths:
		return ora.Type{Code: ora.IntervalYM, Precision: 9, Bytes: 5}
	}
	return ora.Type{Code: ora.IntervalDS, Precision: 9, Scale: 9, Bytes: 11}
}

// conversion changes the encoding of a value that is not NULL.
type conversion func(x *execution, v ora.Value) (ora.Value, error)

// to converts an expression to a class by the implicit rules; text becomes text of the database charset.
func (e expr) to(c class, pos int) (expr, error) {
	from := classOf(e.typ)
	national := from == classText && e.typ.Form == ora.FormNational
	if e.isNullLiteral() {
		e.typ = plainType(c)
		if c == classText {
			e.typ.Bytes, e.typ.Chars = 0, 0
		}
		return e, nil
	}
	if from == c && !national && e.typ.Code != ora.BinaryFloat {
		return e, nil
	}
	conv := conversionOf(e.typ, c)
	if conv == nil {
		return expr{}, mismatch(pos, c, from)
	}
	typ := plainType(c)
	if c == classText {
		typ = textType(textWidth(e.typ))
	}
	return e.through(typ, conv), nil
}

// through applies a conversion.
func (e expr) through(typ ora.Type, conv conversion) expr {
	inner := e.eval
	return expr{typ: typ, nullable: e.nullable, constant: e.constant, eval: func(f *frame) (ora.Value, error) {
		v, err := inner(f)
		if err != nil || v == nil {
			return nil, err
		}
		if len(v) == 0 {
			if isLob(e.typ) && isLob(typ) {
				return v, nil
			}
			return nil, err
		}
		return conv(f.x, v)
	}}
}

// textWidth is how many bytes the text of a value may take.
func textWidth(t ora.Type) uint32 {
	switch classOf(t) {
	case classNumber, classFloat:
		return 40
	case classText:
		if t.Form == ora.FormNational {
			return min(t.Chars*3, maxVarchar)
		}
		return t.Bytes
	case classDate, classTimestamp, classTZ, classLTZ:
		return 75
	case classRaw:
		return min(2*t.Bytes, maxVarchar)
	case classRowid:
		return 18
	case classMonths, classSpan:
		return 30
	}
	return maxVarchar
}

// conversionOf is the implicit conversion from a type to a class; nil when there is none.
func conversionOf(from ora.Type, c class) conversion {
	switch c {
	case classText, classLob:
		return toText(from)
	case classNumber:
		return toNumber(from)
	case classFloat:
		return toDouble(from)
	case classDate, classTimestamp, classTZ, classLTZ:
		return toTime(from, c)
	case classRaw, classBlob:
		return toRaw(from)
	case classRowid:
		if classOf(from) == classText {
			return func(_ *execution, v ora.Value) (ora.Value, error) {
				r, err := ora.ParseRowID(textOf(from, v))
				if err != nil {
					return nil, ora.Errorf(1410, "invalid ROWID")
				}
				return r.Encode(), nil
			}
		}
	case classMonths, classSpan:
		return toInterval(from, c)
	}
	return nil
}

// textOf decodes character data of either charset.
func textOf(t ora.Type, v ora.Value) string {
	if t.Form == ora.FormNational {
		return ora.DecodeNational(v)
	}
	return string(v)
}

func toText(from ora.Type) conversion {
	c := classOf(from)
	if c == classOther || c == classBlob {
		return nil
	}
	return func(x *execution, v ora.Value) (ora.Value, error) {
		s, err := displayText(x, from, c, v)
		return ora.Value(s), err
	}
}

// displayText is TO_CHAR without a format.
func displayText(x *execution, from ora.Type, c class, v ora.Value) (string, error) {
	switch c {
	case classNumber:
		n, err := ora.DecodeNumber(v)
		return numberText(n, x.nls.decimal), err
	case classFloat:
		f, err := floatOf(from, v)
		return floatText(f, from), err
	case classDate, classTimestamp, classTZ, classLTZ:
		t, err := x.decodeTime(from, v)
		if err != nil {
			return "", err
		}
		model := x.nls.date
		if c == classTimestamp {
			model = x.nls.timestamp
		} else if c != classDate {
			model = x.nls.timestampTZ
			t.zone = true
		}
		f, err := x.dateFormat(model)
		if err != nil {
			return "", err
		}
		return f.format(t, x.nls), nil
	case classRaw:
		return strings.ToUpper(hex.EncodeToString(v)), nil
	case classRowid:
		r, err := ora.DecodeRowID(v)
		return r.String(), err
	case classMonths:
		m, err := ora.DecodeMonths(v)
		return fmt.Sprintf("%s%0*d-%02d", signOf(m), int(from.Precision), abs(m)/12, abs(m)%12), err
	case classSpan:
		s, err := ora.DecodeSpan(v)
		return intervalText(from, s), err
	}
	return textOf(from, v), nil
}

// intervalText writes a span with as many digits of days and fraction as its type has.
func intervalText(t ora.Type, s ora.Span) string {
	sec := abs(int(s.Seconds))
	text := fmt.Sprintf("%s%0*d %02d:%02d:%02d", signOf(int(s.Seconds)+s.Nanos), int(t.Precision), sec/86400, sec/3600%24, sec/60%60, sec%60)
	if t.Scale > 0 {
		text += "." + fmt.Sprintf("%09d", abs(s.Nanos))[:t.Scale]
	}
	return text
}

func abs(i int) int { return max(i, -i) }

func signOf(i int) string {
	if i < 0 {
		return "-"
	}
	return "+"
}

func floatOf(t ora.Type, v ora.Value) (float64, error) {
	if t.Code == ora.BinaryFloat {
		f, err := ora.DecodeFloat(v)
		return float64(f), err
	}
	return ora.DecodeDouble(v)
}

// floatText is how Oracle prints a binary float: 1.5E+000.
func floatText(f float64, t ora.Type) string {
	switch {
	case math.IsNaN(f):
		return "Nan"
	case math.IsInf(f, 1):
		return "Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	case f == 0:
		return "0"
	}
	digits := 16
	if t.Code == ora.BinaryFloat {
		digits = 8
	}
	s := strconv.FormatFloat(f, 'E', digits, 64)
	mantissa, exp, _ := strings.Cut(s, "E")
	e, _ := strconv.Atoi(exp)
	if mantissa = strings.TrimRight(mantissa, "0"); strings.HasSuffix(mantissa, ".") {
		mantissa += "0"
	}
	return fmt.Sprintf("%sE%+04d", mantissa, e)
}

func toNumber(from ora.Type) conversion {
	switch classOf(from) {
	case classText:
		return func(x *execution, v ora.Value) (ora.Value, error) {
			n, err := parseNumber(textOf(from, v), x.nls)
			return n.Encode(), err
		}
	case classFloat:
		return func(_ *execution, v ora.Value) (ora.Value, error) {
			f, err := floatOf(from, v)
			if err != nil {
				return nil, err
			}
			if from.Code == ora.BinaryFloat {
				n, err := ora.ParseNum(strconv.FormatFloat(f, 'e', -1, 32))
				if err != nil {
					return nil, ora.ErrOverflow
				}
				return n.Encode(), nil
			}
			n, err := ora.NumFromFloat(f)
			return n.Encode(), err
		}
	}
	return nil
}

func toDouble(from ora.Type) conversion {
	switch classOf(from) {
	case classFloat:
		return func(_ *execution, v ora.Value) (ora.Value, error) {
			f, err := floatOf(from, v)
			return ora.EncodeDouble(f), err
		}
	case classNumber:
		return func(_ *execution, v ora.Value) (ora.Value, error) {
			n, err := ora.DecodeNumber(v)
			return ora.EncodeDouble(n.Float64()), err
		}
	case classText:
		return func(_ *execution, v ora.Value) (ora.Value, error) {
			s := strings.TrimSpace(textOf(from, v))
			f, err := strconv.ParseFloat(s, 64)
			if err != nil || strings.ContainsAny(s, "xX_pP") {
				return nil, ora.ErrInvalidNumber
			}
			return ora.EncodeDouble(f), nil
		}
	}
	return nil
}

func toRaw(from ora.Type) conversion {
	switch classOf(from) {
	case classRaw:
		return func(_ *execution, v ora.Value) (ora.Value, error) { return v, nil }
	case classText:
		return func(_ *execution, v ora.Value) (ora.Value, error) {
			s := textOf(from, v)
			if len(s)%2 == 1 {
				s = "0" + s
			}
			b, err := hex.DecodeString(s)
			if err != nil {
				return nil, ora.Errorf(1465, "invalid hex number")
			}
			return b, nil
		}
	}
	return nil
}

func toInterval(from ora.Type, c class) conversion {
	if classOf(from) != classText {
		return nil
	}
	return func(_ *execution, v ora.Value) (ora.Value, error) {
		s := strings.TrimSpace(textOf(from, v))
		neg := strings.HasPrefix(s, "-")
		s = strings.TrimLeft(s, "+-")
		if c == classMonths {
			m, ok := parseMonths(s, "YEAR", "MONTH")
			if !ok {
				return nil, ora.Errorf(1867, "the interval is invalid")
			}
			if neg {
				m = -m
			}
			return ora.EncodeMonths(m), nil
		}
		span, ok := parseSpan(s, "DAY", "SECOND")
		if !ok {
			return nil, ora.Errorf(1867, "the interval is invalid")
		}
		if neg {
			span = ora.Span{Seconds: -span.Seconds, Nanos: -span.Nanos}
		}
		return span.Encode(), nil
	}
}
