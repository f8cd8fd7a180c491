package wire

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// LOB operations.
const (
	lobLength     = 0x1
	lobRead       = 0x2
	lobTrim       = 0x20
	lobWrite      = 0x40
	lobCreateTemp = 0x110
	lobFreeTemp   = 0x111
	lobChunkSize  = 0x4000
	lobOpen       = 0x8000
	lobClose      = 0x10000
	lobIsOpen     = 0x11000
)

// lobChunk is the chunk size that we report, that of a table space with blocks of 8 KiB.
const lobChunk = 8060

// The locator: 2 bytes of length, flags, and our id at its end. Clients send it back as it is.
const (
	locatorLen      = 40
	locatorIDAt     = 32
	locatorKindAt   = 4
	locatorBlob     = 0x01
	locatorClob     = 0x02
	locatorInitAt   = 5
	locatorInit     = 0x08
	locatorWidthAt  = 6
	locatorVariable = 0x80 // text travels as UTF-16BE
	locatorTempAt   = 7
	locatorTemp     = 0x01
)

// lobBudget bounds what a session keeps for the locators that it gave out; beyond it the oldest are forgotten, and
// using them is ORA-22922. A real server keeps them on disk.
const lobBudget = 256 << 20

// lob is what a locator stands for. Text is in UTF-16BE, the form in which it travels, and counts in its units.
type lob struct {
	data []byte
	text bool
	temp bool
	open bool
}

func (l *lob) unit() int64 {
	if l.text {
		return 2
	}
	return 1
}

func (l *lob) length() int64 { return int64(len(l.data)) / l.unit() }

// lobs are the LOBs of a session by their ids.
type lobs struct {
	byID   map[uint64]*lob
	oldest uint64 // the lowest id that may still be there
	newest uint64
	size   int
}

// add keeps a LOB and returns its locator.
func (ls *lobs) add(l *lob) []byte {
	if ls.byID == nil {
		ls.byID = map[uint64]*lob{}
	}
	ls.newest++
	ls.byID[ls.newest] = l
	ls.size += len(l.data)
	for ; ls.size > lobBudget && ls.oldest < ls.newest; ls.oldest++ {
		ls.free(ls.oldest)
	}
	loc := make([]byte, locatorLen)
	binary.BigEndian.PutUint16(loc, locatorLen-2)
	loc[3] = 1
	loc[locatorKindAt], loc[locatorInitAt] = locatorBlob, locatorInit
	if l.text {
		loc[locatorKindAt], loc[locatorWidthAt] = locatorClob, locatorVariable
	}
	if l.temp {
		loc[locatorTempAt] = locatorTemp
	}
	binary.BigEndian.PutUint64(loc[locatorIDAt:], ls.newest)
	return loc
}

func (ls *lobs) free(id uint64) {
	if l := ls.byID[id]; l != nil {
		ls.size -= len(l.data)
		delete(ls.byID, id)
	}
}

// find returns the LOB of a locator.
func (ls *lobs) find(locator []byte) (*lob, error) {
	if len(locator) == locatorLen {
		if l := ls.byID[locatorID(locator)]; l != nil {
			return l, nil
		}
	}
	return nil, ora.Errorf(22922, "nonexistent LOB value")
}

func locatorID(locator []byte) uint64 { return binary.BigEndian.Uint64(locator[locatorIDAt:]) }

// freeAll frees the temporary LOBs of a list of locators that stand one behind the other.
func (ls *lobs) freeAll(list []byte) {
	for ; len(list) >= locatorLen; list = list[locatorLen:] {
		ls.free(locatorID(list))
	}
}

// travelling turns a column's value into the form in which LOBs travel. It copies: rows are only lent.
func travelling(t ora.Type, v ora.Value) *lob {
	l := &lob{text: t.Code == ora.Clob}
	if l.text && t.Form != ora.FormNational {
		l.data = ora.EncodeNational(string(v))
	} else {
		l.data = append([]byte(nil), v...)
	}
	return l
}

// value is a LOB's content as the backend takes it for a bind of type t.
func (l *lob) value(t ora.Type) ora.Value {
	if l.text && t.Form != ora.FormNational {
		return ora.Value(ora.DecodeNational(l.data))
	}
	return ora.Value(l.data)
}

// inForm converts a LOB value of a column to the character set form of a define as LONG.
func inForm(t ora.Type, form uint8, v ora.Value) ora.Value {
	switch {
	case t.Code != ora.Clob || form == t.Form || form == 0:
		return v
	case form == ora.FormNational:
		return ora.EncodeNational(string(v))
	}
	return ora.Value(ora.DecodeNational(v))
}

// lobRequest is one LOB operation.
type lobRequest struct {
	Op       uint32
	Source   []byte // locator
	Offset   uint64 // 1-based; the character set form for lobCreateTemp
	Dest     uint64 // destination offset; the type code for lobCreateTemp
	Amount   int64
	Data     []byte
	Charset  bool // the reply carries the character set
	Amounts  bool // the request and the reply carry an amount
	NullFlag bool // the reply carries a flag
}

func (d *decoder) lobOperation() lobRequest {
	var r lobRequest
	hasSource, sourceLen := d.pointer()
	hasDest, destLen := d.pointer() // without a pointer the length says how long a temporary LOB lives
	d.uint()
	d.uint()
	r.Charset = d.u8() != 0
	d.u8()
	r.NullFlag = d.u8() != 0
	r.Op = d.u32()
	hasSCN, scnLen := d.pointer()
	r.Offset, r.Dest = d.uint(), d.uint()
	r.Amounts = d.u8() != 0
	d.skip(6)
	if hasSource {
		r.Source = append([]byte(nil), d.raw(sourceLen)...)
	}
	if hasDest {
		d.skip(destLen)
	}
	if r.Charset {
		d.uint()
	}
	for i := 0; hasSCN && i < scnLen && d.err == nil; i++ {
		d.uint()
	}
	if r.Amounts {
		r.Amount = d.sint()
	}
	if r.Op == lobWrite {
		if m := d.u8(); m != msgLOBData {
			d.fail("message %#x instead of LOB data", m)
		}
		r.Data = d.clr()
	}
	return r
}

// lobOperation serves a LOB operation.
func (s *session) lobOperation(ctx context.Context) error {
	r := s.dec.lobOperation()
	if s.dec.err != nil {
		return s.dec.err
	}
	if err := s.enter("LOB", false); err != nil {
		return s.fail(ctx, err, outcome{})
	}
	if err := s.strike(ctx, 0, false); err != nil {
		return s.fail(ctx, err, outcome{})
	}
	flag, err := s.operate(&r)
	if err != nil {
		return s.fail(ctx, err, outcome{})
	}
	e := &s.enc
	e.u8(msgParameter)
	e.raw(r.Source...)
	if r.Charset {
		e.uint(charsetUTF8)
	}
	if r.Amounts {
		e.sint(r.Amount)
	}
	if r.NullFlag {
		e.flag(flag)
	}
	s.endOfCall(outcome{})
	return s.flush()
}

// operate does what a LOB request asks for. It leaves the answers in the request, whose fields the reply repeats;
// data that was read goes before them.
func (s *session) operate(r *lobRequest) (flag bool, err error) {
	if r.Op == lobCreateTemp {
		r.Source = s.lobs.add(&lob{text: uint8(r.Dest) == ora.Clob, temp: true})
		return false, nil
	}
	l, err := s.lobs.find(r.Source)
	if err != nil {
		return false, err
	}
	switch r.Op {
	case lobLength:
		r.Amount = l.length()
	case lobRead:
		piece := l.read(r.Offset, r.Amount)
		if len(piece) > 0 {
			s.enc.u8(msgLOBData)
			s.enc.clr(piece)
		}
		r.Amount = int64(len(piece)) / l.unit()
	case lobChunkSize:
		r.Amount = lobChunk
	case lobOpen, lobClose:
		l.open = r.Op == lobOpen
	case lobIsOpen:
		return l.open, nil
	case lobFreeTemp:
		s.lobs.free(locatorID(r.Source))
	case lobWrite, lobTrim:
		return false, s.lobs.change(l, r)
	default:
		return false, ora.Errorf(3115, "unsupported network datatype or representation (LOB operation %#x)", r.Op)
	}
	return false, nil
}

// read returns a piece of a LOB. Amount 0 is go-ora's word for all that follows.
func (l *lob) read(offset uint64, amount int64) []byte {
	from := min(max(int64(offset)-1, 0), l.length())
	rest := l.length() - from
	if amount > 0 {
		rest = min(rest, amount)
	}
	return l.data[from*l.unit() : (from+rest)*l.unit()]
}

// change writes to or cuts a temporary LOB. Persistent ones would need their row locked, which nobody does here.
func (ls *lobs) change(l *lob, r *lobRequest) error {
	before := len(l.data)
	defer func() { ls.size += len(l.data) - before }()
	switch at := (max(int64(r.Offset), 1) - 1) * l.unit(); {
	case !l.temp:
		return ora.Errorf(22920, "row containing the LOB value is not locked")
	case r.Op == lobTrim:
		if r.Amount < 0 || r.Amount > l.length() {
			return ora.Errorf(22926, "specified trim length is greater than current LOB value's length")
		}
		l.data = l.data[:r.Amount*l.unit()]
	case at+int64(len(r.Data)) > maxField:
		return ora.Errorf(22925, "operation would exceed maximum size allowed for a LOB value")
	default:
		l.write(at, r.Data)
	}
	return nil
}

// write puts data at a byte offset; a gap before it becomes blanks in text and zeros in bytes.
func (l *lob) write(at int64, data []byte) {
	for int64(len(l.data)) < at {
		if l.text {
			l.data = append(l.data, 0, ' ')
		} else {
			l.data = append(l.data, 0)
		}
	}
	n := copy(l.data[at:], data)
	l.data = append(l.data, data[n:]...)
}

// content replaces the locators among a row of binds by what they stand for.
func (ls *lobs) content(layout []oac, row []ora.Value) error {
	for i, o := range layout {
		if !isLOB(o.Type.Code) || len(row[i]) == 0 {
			continue
		}
		l, err := ls.find(row[i])
		if err != nil {
			return fmt.Errorf("bind %d: %w", i+1, err)
		}
		row[i] = l.value(o.Type)
	}
	return nil
}
