package sql

import (
	"strconv"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Longest values in bytes (MAX_STRING_SIZE=STANDARD).
const (
	maxVarchar = 4000
	maxChar    = 2000
	maxRaw     = 2000
	maxLob     = 64 << 20 // of this engine
)

func numberType() ora.Type { return ora.Type{Code: ora.Number, Scale: ora.ScaleFloating, Bytes: 22} }

// integerType is NUMBER(*,0): a scale without a precision.
func integerType() ora.Type { return ora.Type{Code: ora.Number, Bytes: 22} }

// textType is VARCHAR2 of so many bytes and characters.
func textType(n uint32) ora.Type {
	return ora.Type{Code: ora.Varchar2, Form: ora.FormDatabase, Bytes: n, Chars: n}
}

func dateType() ora.Type { return ora.Type{Code: ora.Date, Bytes: 7} }

// dataType reads the name of a type.
func (p *parser) dataType() ora.Type {
	t := p.next()
	if t.kind != tokIdent {
		p.failAt(t.pos, 902, "invalid datatype")
	}
	switch t.text {
	case "NUMBER", "DECIMAL", "NUMERIC", "DEC":
		return p.numberOf(t)
	case "INTEGER", "INT", "SMALLINT":
		return integerType()
	case "FLOAT", "REAL":
		return p.floatOf(t)
	case "DOUBLE":
		p.need("PRECISION")
		return ora.Type{Code: ora.Number, Precision: 126, Scale: ora.ScaleFloating, Bytes: 22}
	case "BINARY_FLOAT":
		return ora.Type{Code: ora.BinaryFloat, Bytes: 4}
	case "BINARY_DOUBLE":
		return ora.Type{Code: ora.BinaryDouble, Bytes: 8}
	case "DATE":
		return dateType()
	case "TIMESTAMP":
		return p.timestampOf()
	case "INTERVAL":
		return p.intervalOf()
	case "RAW":
		n, _ := p.length(t, maxRaw, true)
		return ora.Type{Code: ora.Raw, Bytes: n}
	case "CLOB", "NCLOB":
		form := ora.FormDatabase
		if t.text == "NCLOB" {
			form = ora.FormNational
		}
		return ora.Type{Code: ora.Clob, Form: form, Bytes: maxVarchar}
	case "BLOB":
		return ora.Type{Code: ora.Blob, Bytes: maxVarchar}
	case "LONG":
		if p.words("RAW") {
			return ora.Type{Code: ora.LongRaw, Bytes: 1 << 31}
		}
		return ora.Type{Code: ora.Long, Form: ora.FormDatabase, Bytes: 1 << 31}
	case "ROWID":
		return rowidType()
	case "UROWID":
		if p.symbol("(") {
			p.integer()
			p.close()
		}
		return ora.Type{Code: ora.Urowid, Bytes: maxVarchar}
	}
	return p.textOf(t)
}

func rowidType() ora.Type { return ora.Type{Code: ora.Rowid, Bytes: 18} }

// textOf reads the character types.
func (p *parser) textOf(t token) ora.Type {
	switch t.text {
	case "VARCHAR2", "VARCHAR":
		return p.varchar(t)
	case "CHAR", "CHARACTER":
		if p.words("VARYING") {
			return p.varchar(t)
		}
		n, chars := p.length(t, maxChar, false)
		return characters(ora.Char, n, chars, maxChar)
	case "NATIONAL":
		if !p.words("CHARACTER") {
			p.need("CHAR")
		}
		return p.national(t, p.words("VARYING"))
	case "NVARCHAR2":
		return p.national(t, true)
	case "NCHAR":
		return p.national(t, p.words("VARYING"))
	case "BFILE", "XMLTYPE", "JSON", "SDO_GEOMETRY", "ANYDATA":
		p.failAt(t.pos, 3001, "unimplemented feature: type %s", t.text)
	}
	p.failAt(t.pos, 902, "invalid datatype")
	return ora.Type{}
}

func (p *parser) varchar(t token) ora.Type {
	n, chars := p.length(t, maxVarchar, true)
	return characters(ora.Varchar2, n, chars, maxVarchar)
}

func (p *parser) national(t token, varying bool) ora.Type {
	typ := ora.Type{Code: ora.Char, Form: ora.FormNational, CharUsed: true}
	longest := uint32(maxChar)
	if varying {
		typ.Code, longest = ora.Varchar2, maxVarchar
	}
	typ.Chars, _ = p.length(t, longest/2, varying)
	typ.Bytes = 2 * typ.Chars
	return typ
}

// characters is a type in the database charset, whose characters have up to 4 bytes.
func characters(code uint8, n uint32, chars bool, longest uint32) ora.Type {
	t := ora.Type{Code: code, Form: ora.FormDatabase, Bytes: n, Chars: n, CharUsed: chars}
	if chars {
		t.Bytes = min(4*n, longest)
	}
	return t
}

// length reads (n [CHAR|BYTE]); without it the length is 1 unless it is required.
func (p *parser) length(t token, longest uint32, required bool) (n uint32, chars bool) {
	if !p.symbol("(") {
		if required {
			p.fail(906, "missing left parenthesis")
		}
		return 1, false
	}
	pos := p.peek().pos
	i := p.integer()
	switch {
	case p.words("CHAR"):
		chars = true
	default:
		p.words("BYTE")
	}
	p.close()
	if i == 0 {
		p.failAt(pos, 1723, "zero-length columns are not allowed")
	}
	if i < 0 || uint32(i) > longest {
		p.failAt(pos, 910, "specified length too long for its datatype")
	}
	return uint32(i), chars
}

// integer takes a whole number, with an optional sign.
func (p *parser) integer() int {
	neg := p.symbol("-")
	t := p.next()
	i, err := strconv.Atoi(t.text)
	if t.kind != tokNumber || err != nil || i > 1<<30 {
		p.failAt(t.pos, 2017, "integer value required")
	}
	if neg {
		return -i
	}
	return i
}

// numberOf reads [(p|*[,s])].
func (p *parser) numberOf(t token) ora.Type {
	typ := numberType()
	if !p.symbol("(") {
		if t.text != "NUMBER" {
			return integerType()
		}
		return typ
	}
	pos := p.peek().pos
	precision, scale := 0, 0
	star := p.symbol("*")
	if !star {
		precision = p.integer()
	}
	if p.symbol(",") {
		scale = p.integer()
	}
	p.close()
	if !star && (precision < 1 || precision > 38) {
		p.failAt(pos, 1727, "numeric precision specifier is out of range (1 to 38)")
	}
	if scale < -84 || scale > 127 {
		p.failAt(pos, 1728, "numeric scale specifier is out of range (-84 to 127)")
	}
	typ.Precision, typ.Scale = uint8(precision), int8(scale)
	return typ
}

// floatOf reads [(b)]: a NUMBER with a binary precision.
func (p *parser) floatOf(t token) ora.Type {
	typ := ora.Type{Code: ora.Number, Precision: 126, Scale: ora.ScaleFloating, Bytes: 22}
	if t.text == "REAL" {
		typ.Precision = 63
	}
	if t.text == "FLOAT" && p.symbol("(") {
		pos := p.peek().pos
		b := p.integer()
		p.close()
		if b < 1 || b > 126 {
			p.failAt(pos, 1724, "floating point precision is out of range (1 to 126)")
		}
		typ.Precision = uint8(b)
	}
	return typ
}

func (p *parser) fraction(otherwise int) int8 {
	if !p.symbol("(") {
		return int8(otherwise)
	}
	pos := p.peek().pos
	n := p.integer()
	p.close()
	if n < 0 || n > 9 {
		p.failAt(pos, 30088, "datetime/interval precision is out of range")
	}
	return int8(n)
}

func (p *parser) timestampOf() ora.Type {
	typ := ora.Type{Code: ora.Timestamp, Scale: p.fraction(6), Bytes: 11}
	switch {
	case p.words("WITH", "LOCAL", "TIME", "ZONE"):
		typ.Code = ora.TimestampLTZ
	case p.words("WITH", "TIME", "ZONE"):
		typ.Code, typ.Bytes = ora.TimestampTZ, 13
	}
	return typ
}

func (p *parser) intervalOf() ora.Type {
	if p.words("YEAR") {
		typ := ora.Type{Code: ora.IntervalYM, Precision: uint8(p.fraction(2)), Bytes: 5}
		p.need("TO", "MONTH")
		return typ
	}
	p.need("DAY")
	typ := ora.Type{Code: ora.IntervalDS, Precision: uint8(p.fraction(2)), Bytes: 11}
	p.need("TO", "SECOND")
	typ.Scale = p.fraction(6)
	return typ
}
