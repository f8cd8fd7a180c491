package wire

import (
	"fmt"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Bits of the call status.
const (
	statusOK            = 1
	statusInTransaction = 2
)

// outcome is what the end-of-call record tells about a call.
type outcome struct {
	err    *ora.Error // nil: success
	cursor uint32
	rows   int64 // affected, or fetched so far
	kind   ora.Kind
	batch  []batchError
}

func (s *session) callStatus() uint64 {
	if s.sess != nil && s.sess.InTransaction() {
		return statusOK | statusInTransaction
	}
	return statusOK
}

// status appends the short end of a call and sends the reply.
func (s *session) status() error {
	s.enc.u8(msgStatus)
	s.enc.uint(s.callStatus())
	s.enc.uint(uint64(s.calls))
	return s.flush()
}

// endOfCall appends the OER record. The cursor id must be right in every one: go-ora takes its own from it.
func (s *session) endOfCall(o outcome) {
	e := &s.enc
	code, position := uint64(0), uint64(0)
	if o.err != nil {
		code, position = uint64(o.err.Code), uint64(o.err.Pos)
	}
	rows := uint64(s.reportedRows(o.rows))
	e.u8(msgError)
	e.uint(s.callStatus())
	e.uint(uint64(s.calls))
	e.uint(rows & 0xFFFFFFFF)
	e.uint(code)
	e.raw(0, 0) // array elements with errors
	e.uint(uint64(o.cursor))
	e.uint(position)
	e.u8(sqlType(o.kind))
	e.raw(0, 0, 0, 0, 0)  // fatal, flags, cursor options, upi, warning
	e.raw(0, 0, 0, 0, 0)  // rowid
	e.raw(0, 0, s.callNo) // OS error, statement, call number
	e.raw(0, 0, 0)        // padding, iterations, logical rowid
	e.batchErrors(o.batch)
	e.uint(code)
	e.uint(rows)
	if e.caps.fieldVersion >= version201 {
		e.uint(uint64(sqlType(o.kind)))
		e.uint(0)
	}
	if code != 0 {
		e.clr(fmt.Appendf(nil, "%s\n", o.err.Error()))
	}
}

func sqlType(k ora.Kind) byte {
	const plsql = 47
	switch {
	case k == ora.KindPLSQL:
		return plsql
	case k < ora.KindPLSQL:
		return byte(k)
	}
	return 0
}

// batchErrors appends the errors of an array DML as three arrays: codes, offsets, texts. The byte after a length says how
// an array is packed; only 0xFE, which we do not use, has a meaning.
func (e *encoder) batchErrors(list []batchError) {
	const packed = 1
	arrays := []func(batchError){
		func(b batchError) { e.uint(uint64(b.err.Code)) },
		func(b batchError) { e.uint(uint64(b.iteration)) },
		func(b batchError) {
			text := fmt.Appendf(nil, "%s\n", b.err.Error())
			e.uint(uint64(len(text)))
			e.clr(text)
			e.raw(0, 0) // end of the text
		},
	}
	for _, array := range arrays {
		e.uint(uint64(len(list)))
		if len(list) > 0 {
			e.u8(packed)
		}
		for _, b := range list {
			array(b)
		}
	}
}

// returnParameters appends the RPA of an execute.
func (s *session) returnParameters(cursor uint32) {
	e := &s.enc
	scn := s.sess.SCN()
	e.u8(msgParameter)
	e.uint(6)
	e.uint(scn & 0xFFFFFFFF)
	e.uint(scn >> 32)
	e.uint(uint64(cursor))
	e.raw(0, 0, 0)
	e.raw(0, 0, 0) // transaction, key/values, registration
}

// rowCounts appends the number of rows of each iteration to the RPA.
func (s *session) rowCounts(counts []int64) {
	s.enc.uint(uint64(len(counts)))
	for _, n := range counts {
		s.enc.uint(uint64(n))
	}
}

const signatureLen = 23 // of a describe; any bytes will do

func (s *session) describe(cols []column) {
	e := &s.enc
	e.u8(msgDescribe)
	e.clr([]byte("describe-signature-0000")[:signatureLen])
	s.describeBody(cols)
}

// describeBody is a describe without its head, as it stands in the value of a cursor.
func (s *session) describeBody(cols []column) {
	e := &s.enc
	width := uint64(0)
	for _, c := range cols {
		width += uint64(c.Type.Bytes)
	}
	e.uint(width)
	e.uint(uint64(len(cols)))
	if len(cols) > 0 {
		e.u8(0x5C)
	}
	for i, c := range cols {
		e.column(i, c.Column)
	}
	e.dalc([]byte{0x78, 0x7E, 4, 4, 0x18, 5, 0x27}) // current date
	e.uint(0)
	e.uint(8168)
	e.uint(2)
	e.uint(2)
	e.uint(0) // query cache key
}

func (e *encoder) column(position int, c ora.Column) {
	e.u8(c.Type.Code)
	e.u8(columnFlags(c.Type))
	e.u8(c.Type.Precision)
	e.scale(c.Type)
	e.uint(uint64(c.Type.Bytes))
	e.raw(0, 0) // array, continuation
	e.raw(0, 0) // object type, version
	e.uint(charsetOf(c.Type))
	e.u8(c.Type.Form)
	e.uint(uint64(c.Type.Chars))
	if e.caps.fieldVersion >= version122 {
		e.uint(collationOf(c.Type))
	}
	e.flag(c.Nullable)
	e.u8(byte(min(len(c.Name), 255)))
	e.dalc([]byte(c.Name))
	e.raw(0, 0) // schema, type name
	e.uint(uint64(position))
	e.u8(0) // uds flags
	e.columnTail()
}

// columnTail appends what newer field versions have: domain, annotations, vector.
func (e *encoder) columnTail() {
	if e.caps.fieldVersion >= version231 {
		e.raw(0, 0)
	}
	if e.caps.fieldVersion >= version233 {
		e.u8(0)
	}
	if e.caps.fieldVersion >= version234 {
		e.raw(0, 0, 0)
	}
}

// scale is an SB1 field for the types that have one, else a bare byte.
func (e *encoder) scale(t ora.Type) {
	switch t.Code {
	case ora.Number, ora.Timestamp, ora.TimestampTZ, ora.TimestampLTZ, ora.IntervalDS:
		e.sb1(t.Scale)
	default:
		e.u8(byte(t.Scale))
	}
}

func columnFlags(t ora.Type) byte {
	if t.Code == ora.Varchar2 || t.Code == ora.Char {
		return 0x80
	}
	return 0
}

func charsetOf(t ora.Type) uint64 {
	switch t.Form {
	case ora.FormDatabase:
		return charsetUTF8
	case ora.FormNational:
		return charsetUTF16
	}
	return 0
}

func collationOf(t ora.Type) uint64 {
	const usingNLS = 0x3FFE
	if t.Form != 0 {
		return usingNLS
	}
	return 0
}
