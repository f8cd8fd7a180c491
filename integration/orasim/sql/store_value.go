package sql

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// cast converts an expression to a declared type, with its length, precision and scale. place, when not empty,
// is the column that is stored into, for the message; without it the rules are those of CAST, which cuts text.
func (e expr) cast(typ ora.Type, place string, pos int) (expr, error) {
	to := classOf(typ)
	if to == classOther {
		return expr{}, errAt(pos, 3001, "unimplemented feature: conversion to this type")
	}
	if e.isNullLiteral() {
		e.typ = typ
		return e, nil
	}
	from := classOf(e.typ)
	fit := fitterOf(typ, place)
	if from == to && (to != classText || e.typ.Form == typ.Form) && e.typ.Code != ora.BinaryFloat && typ.Code != ora.BinaryFloat {
		return e.through(typ, fit), nil
	}
	if (to == classLob || to == classBlob) && (from == to || from == classText && to == classLob || from == classRaw && to == classBlob) {
		return e.through(typ, func(x *execution, v ora.Value) (ora.Value, error) {
			if to == classLob && e.typ.Form != typ.Form {
				return encodeText(typ, textOf(e.typ, v)), nil
			}
			return v, nil
		}), nil
	}
	conv := conversionOf(e.typ, to)
	if conv == nil {
		return expr{}, mismatch(pos, to, from)
	}
	return e.through(typ, func(x *execution, v ora.Value) (ora.Value, error) {
		v, err := conv(x, v)
		if err != nil || len(v) == 0 {
			return nil, err
		}
		if to == classText && typ.Form == ora.FormNational {
			v = ora.EncodeNational(string(v))
		}
		return fit(x, v)
	}), nil
}

func encodeText(t ora.Type, s string) ora.Value {
	if t.Form == ora.FormNational {
		return ora.EncodeNational(s)
	}
	return ora.Value(s)
}

// fitterOf makes a value of the right class fit a declared type.
func fitterOf(typ ora.Type, place string) conversion {
	switch classOf(typ) {
	case classText:
		return func(_ *execution, v ora.Value) (ora.Value, error) { return fitText(typ, place, v) }
	case classNumber:
		return func(_ *execution, v ora.Value) (ora.Value, error) { return fitNumber(typ, v) }
	case classFloat:
		if typ.Code == ora.BinaryFloat {
			return func(_ *execution, v ora.Value) (ora.Value, error) {
				f, err := ora.DecodeDouble(v)
				return ora.EncodeFloat(float32(f)), err
			}
		}
	case classTimestamp, classTZ, classLTZ:
		return func(x *execution, v ora.Value) (ora.Value, error) {
			t, err := x.decodeTime(typ, v)
			if err != nil {
				return nil, err
			}
			t.wall = t.wall.RoundFraction(int(typ.Scale))
			return x.encodeTime(t, classOf(typ))
		}
	case classMonths, classSpan:
		return func(_ *execution, v ora.Value) (ora.Value, error) { return fitInterval(typ, v) }
	case classRaw:
		return func(_ *execution, v ora.Value) (ora.Value, error) {
			if len(v) > int(typ.Bytes) {
				return nil, tooLong(place, len(v), int(typ.Bytes))
			}
			return v, nil
		}
	}
	return func(_ *execution, v ora.Value) (ora.Value, error) { return v, nil }
}

func tooLong(place string, got, most int) error {
	if place == "" {
		return ora.Errorf(25137, "Data value out of range")
	}
	return ora.Errorf(12899, "value too large for column %s (actual: %d, maximum: %d)", place, got, most)
}

// fitText checks the length in the declared unit and pads CHAR. A CAST cuts instead, at a whole character.
func fitText(typ ora.Type, place string, v ora.Value) (ora.Value, error) {
	got, most := len(v), int(typ.Bytes)
	if typ.CharUsed {
		got, most = charCount(typ, v), int(typ.Chars)
	}
	if got > most || len(v) > int(typ.Bytes) {
		if place != "" {
			return nil, tooLong(place, got, most)
		}
		v = cutText(typ, v)
		got = len(v)
		if typ.CharUsed {
			got = charCount(typ, v)
		}
	}
	if typ.Code != ora.Char || got >= most {
		return v, nil
	}
	return append(v[:len(v):len(v)], encodeText(typ, strings.Repeat(" ", most-got))...), nil
}

// charCount is the number of characters; the national charset counts UTF-16 units, as Oracle does.
func charCount(t ora.Type, v ora.Value) int {
	if t.Form == ora.FormNational {
		return len(v) / 2
	}
	return utf8.RuneCount(v)
}

func cutText(typ ora.Type, v ora.Value) ora.Value {
	if typ.Form == ora.FormNational {
		n := int(typ.Chars) * 2
		if r := utf16.IsSurrogate(rune(v[n-2])<<8 | rune(v[n-1])); r && v[n-2] < 0xDC {
			n -= 2
		}
		return v[:n]
	}
	chars, n := 0, 0
	for n < len(v) {
		_, w := utf8.DecodeRune(v[n:])
		if n+w > int(typ.Bytes) || typ.CharUsed && chars == int(typ.Chars) {
			break
		}
		n += w
		chars++
	}
	return v[:n]
}

// fitNumber rounds to the scale and checks the precision.
func fitNumber(typ ora.Type, v ora.Value) (ora.Value, error) {
	if typ.Precision == 0 && typ.Scale == ora.ScaleFloating {
		return v, nil
	}
	n, err := ora.DecodeNumber(v)
	if err != nil {
		return nil, err
	}
	if typ.Scale == ora.ScaleFloating { // FLOAT(b)
		r, err := n.Significant((int(typ.Precision)*30103 + 99999) / 100000)
		return r.Encode(), err
	}
	r, err := n.Round(int(typ.Scale))
	if err != nil {
		return nil, err
	}
	precision := cmp.Or(int(typ.Precision), 38)
	if _, point := r.Decimal(); r.Sign() != 0 && point > precision-int(typ.Scale) {
		return nil, ora.Errorf(1438, "value larger than specified precision allowed for this column")
	}
	if r == n {
		return v, nil
	}
	return r.Encode(), nil
}

// fitInterval rounds the seconds to the declared fraction and checks the digits of the leading field.
func fitInterval(typ ora.Type, v ora.Value) (ora.Value, error) {
	most := int64(1)
	for range typ.Precision {
		most *= 10
	}
	tooBig := ora.Errorf(1873, "the leading precision of the interval is too small")
	if typ.Code == ora.IntervalYM {
		m, err := ora.DecodeMonths(v)
		if err == nil && int64(abs(m)/12) >= most {
			err = tooBig
		}
		return v, err
	}
	s, err := ora.DecodeSpan(v)
	if err != nil {
		return nil, err
	}
	unit := 1
	for range 9 - int(typ.Scale) {
		unit *= 10
	}
	if rest := s.Nanos % unit; rest != 0 {
		s.Nanos -= rest
		if 2*abs(rest) >= unit {
			up := unit * rest / abs(rest)
			s.Nanos += up
			s.Seconds, s.Nanos = s.Seconds+int64(s.Nanos/1e9), s.Nanos%1e9
		}
	}
	if max(s.Seconds, -s.Seconds)/86400 >= most {
		return nil, tooBig
	}
	return s.Encode(), nil
}

// placeName is how ORA-12899 and ORA-01400 call a column.
func placeName(o objectName, column string) string {
	return fmt.Sprintf("%q.%q.%q", o.owner, o.name, column)
}
