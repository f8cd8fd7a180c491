package generate

import (
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Ten is a table like a narrow fact table: a key, four more numbers, three texts, a DATE and a TIMESTAMP.
func Ten(rows int64, seed uint64) (*Table, error) { return New(rows, seed, tenColumns()) }

// Sixteen is Ten with a wide number, fixed text, bytes, a float, national text and a time with a zone.
func Sixteen(rows int64, seed uint64) (*Table, error) {
	return New(rows, seed, append(tenColumns(), sixColumns()...))
}

func tenColumns() []Column {
	return []Column{
		{column("ID", number(12, 0), false), Sequence{1, 1}, 0},
		{column("ACCOUNT", number(10, 0), true), Decimals{Low: 1, High: 9_999_999_999}, 0},
		{column("AMOUNT", number(14, 2), true), Decimals{Low: -5_000_000, High: 95_000_000, Scale: 2}, 0},
		{column("QUANTITY", number(6, 0), true), Decimals{Low: 0, High: 999}, 5},
		{column("RATE", number(9, 4), true), Decimals{Low: 0, High: 2_000_000, Scale: 4}, 0},
		{column("STATUS", text(10), true), Choice{values("OPEN", "PAID", "SHIPPED", "RETURNED", "CANCELLED"), true}, 0},
		{column("NAME", text(40), true), Text{Min: 6, Max: 24}, 0},
		{column("NOTE", text(60), true), Text{Min: 10, Max: 40, Letters: "abcdefghij klmnop qrstuvw"}, 33},
		{column("BOOKED", ora.Type{Code: ora.Date, Bytes: 7}, true), times(ora.Date, 0), 0},
		{column("CHANGED", ora.Type{Code: ora.Timestamp, Bytes: 11, Scale: 6}, true), times(ora.Timestamp, 6), 0},
	}
}

func sixColumns() []Column {
	fixed := text(8)
	fixed.Code = ora.Char
	national := ora.Type{Code: ora.Varchar2, Form: ora.FormNational, Bytes: 24, Chars: 12}
	return []Column{
		{column("BALANCE", number(18, 2), true), Decimals{Low: -1 << 50, High: 1 << 50, Scale: 2}, 10},
		{column("CODE", fixed, true), Text{Min: 8, Max: 8, Letters: "0123456789ABCDEF"}, 0},
		{column("HASH", ora.Type{Code: ora.Raw, Bytes: 16}, true), Bytes{16, 16}, 0},
		{column("SCORE", ora.Type{Code: ora.BinaryDouble, Bytes: 8}, true), Floats{Low: -1, High: 1}, 0},
		{column("CITY", national, true), Choice{nationals("서울", "부산", "Zürich", "Łódź"), false}, 10},
		{column("SEEN", ora.Type{Code: ora.TimestampTZ, Bytes: 13, Scale: 3}, true), zoned(3), 0},
	}
}

// Default gives every column of a table a rule by its type: the first NUMBER without NULLs counts from 1, other
// columns are random within their length, and a tenth of what may be NULL is. ok is false for a type that
// cannot be made.
func Default(c ora.Column, key bool) (col Column, ok bool) {
	col = Column{Column: c, Rule: defaultRule(c.Type)}
	if key {
		col.Rule = Sequence{1, 1}
	}
	if c.Nullable {
		col.Nulls = 10
	}
	return col, col.Rule != nil
}

func defaultRule(t ora.Type) Rule {
	length := int(min(t.Chars, 30))
	switch t.Code {
	case ora.Number:
		whole, scale := 9, max(0, min(int(t.Scale), 9))
		if t.Precision > 0 && t.Scale != ora.ScaleFloating {
			whole = max(1, min(int(t.Precision), 17))
		}
		high := int64(1)
		for range whole {
			high *= 10
		}
		return Decimals{Low: 1 - high, High: high - 1, Scale: scale}
	case ora.Varchar2:
		if t.Form == ora.FormNational {
			return Choice{nationals("서울", "부산", "Zürich"), false}
		}
		return Text{Min: 1, Max: max(1, length)}
	case ora.Char:
		n := int(min(t.Bytes, t.Chars))
		if t.Form == ora.FormNational {
			return Choice{nationals(strings.Repeat("n", int(t.Chars))), false}
		}
		return Text{Min: n, Max: n, Letters: "ABCDEF0123456789"}
	case ora.Raw:
		return Bytes{1, int(min(t.Bytes, 30))}
	case ora.Date:
		return times(t.Code, 0)
	case ora.Timestamp, ora.TimestampTZ, ora.TimestampLTZ:
		return times(t.Code, int(min(max(t.Scale, 0), 9)))
	case ora.BinaryFloat, ora.BinaryDouble:
		return Floats{Low: -1000, High: 1000, Single: t.Code == ora.BinaryFloat}
	}
	return nil
}

func column(name string, t ora.Type, nullable bool) ora.Column {
	return ora.Column{Name: name, Type: t, Nullable: nullable}
}

func number(precision uint8, scale int8) ora.Type {
	return ora.Type{Code: ora.Number, Precision: precision, Scale: scale, Bytes: 22}
}

func text(n uint32) ora.Type {
	return ora.Type{Code: ora.Varchar2, Form: ora.FormDatabase, Bytes: n, Chars: n}
}

// times are within the two years from 2025 on.
func times(code uint8, digits int) Times {
	return Times{From: ora.Time{Year: 2025, Month: 1, Day: 1}, Seconds: 730 * 86400, Digits: digits, Code: code}
}

func zoned(digits int) Times {
	t := times(ora.TimestampTZ, digits)
	t.Offset = 9 * 60
	return t
}

func values(texts ...string) []ora.Value {
	list := make([]ora.Value, len(texts))
	for i, s := range texts {
		list[i] = ora.Value(s)
	}
	return list
}

func nationals(texts ...string) []ora.Value {
	list := make([]ora.Value, len(texts))
	for i, s := range texts {
		list[i] = ora.EncodeNational(s)
	}
	return list
}
