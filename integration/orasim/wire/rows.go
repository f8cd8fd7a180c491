package wire

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// column is a column of a result and the form in which its values travel.
type column struct {
	ora.Column
	form     valueForm
	prefetch uint32 // formLOBPrefetch: characters or bytes that come with the locator
	charForm uint8  // a LOB in formLong: the character set form that the client defined
}

type valueForm uint8

const (
	formCLR         valueForm = iota
	formNone                  // always NULL: no byte in the row
	formRowid                 // not a CLR: fields
	formUrowid                // a length, then a CLR
	formLong                  // a CLR, an indicator, a return code
	formLOB                   // a locator
	formLOBPrefetch           // a locator, the size, the beginning of the content
)

func formOf(t ora.Type) valueForm {
	switch {
	case t.Bytes == 0 && !isLong(t.Code):
		return formNone
	case isLOB(t.Code):
		return formLOB
	case t.Code == ora.Rowid:
		return formRowid
	case t.Code == ora.Urowid:
		return formUrowid
	case isLong(t.Code):
		return formLong
	}
	return formCLR
}

// Flags of a row header.
const (
	headerExecute = 0x22
	headerFetch   = 0x02
)

// rows appends a row header and up to n rows of a cursor, sending full packets on the way, so that a client
// may ask for any number. It returns io.EOF when the result is at its end.
func (s *session) rows(ctx context.Context, c *cursor, n int64, header byte) error {
	if limit := s.cfg.MaxReplyRows; limit > 0 {
		n = min(n, int64(limit))
	}
	s.rowHeader(header, len(c.columns), n)
	if source, ok := s.packedSource(c); ok {
		return s.packedRows(ctx, c, source, n)
	}
	w := rowWriter{enc: &s.enc, lobs: &s.lobs, cols: c.columns, compress: !c.plain}
	for w.sent < n {
		if s.endsEarly(w.sent, c.fetched) {
			return nil
		}
		if c.fetched > 0 { // row 0 was the execute's
			if err := s.strike(ctx, c.fetched, false); err != nil {
				return err
			}
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		row, err := c.source.Next(ctx)
		if err != nil {
			return err
		}
		if err := w.write(s.damaged(row, c.fetched)); err != nil {
			return err
		}
		c.fetched++
		if err := s.ship(); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) rowHeader(flags byte, columns int, n int64) {
	e := &s.enc
	e.u8(msgRowHeader)
	e.u8(flags)
	e.uint(uint64(columns & 0xFF))
	e.uint(uint64(columns >> 8))
	e.uint(uint64(n))
	e.raw(0, 0, 0) // buffer length, bit vector, rowid
}

// wholeRows is how many rows of a reply a server sends before it leaves repeated values out.
const wholeRows = 2

// rowWriter encodes the rows of one reply.
type rowWriter struct {
	enc      *encoder
	lobs     *lobs
	cols     []column
	compress bool
	sent     int64
	vectors  bool // a bit vector was sent: every later row of this reply needs one
	vector   []byte
	prev     [][]byte
}

var errRowWidth = errors.New("encode row: it has another number of values than the statement has columns")

func (w *rowWriter) write(row []ora.Value) error {
	if len(row) != len(w.cols) {
		return errRowWidth
	}
	if w.compress && w.sent >= wholeRows {
		changed := w.compare(row)
		if w.vectors = w.vectors || changed < len(row); w.vectors {
			w.enc.u8(msgBitVector)
			w.enc.uint(uint64(changed))
			w.enc.raw(w.vector...)
		}
	}
	w.enc.u8(msgRow)
	for i := range row {
		if w.vectors && w.vector[i>>3]&(1<<(i&7)) == 0 {
			continue
		}
		if err := w.value(&w.cols[i], row[i]); err != nil {
			return err
		}
	}
	w.remember(row)
	w.sent++
	return nil
}

// compare sets the bits of the columns that must be sent and counts them.
func (w *rowWriter) compare(row []ora.Value) (changed int) {
	if w.vector == nil {
		w.vector = make([]byte, (len(row)+7)/8)
	}
	clear(w.vector)
	for i, v := range row {
		if !w.cols[i].form.comparable() || !bytes.Equal(v, w.prev[i]) {
			w.vector[i>>3] |= 1 << (i & 7)
			changed++
		}
	}
	return changed
}

func (w *rowWriter) remember(row []ora.Value) {
	if !w.compress {
		return
	}
	if w.prev == nil {
		w.prev = make([][]byte, len(row))
	}
	for i, v := range row {
		if w.cols[i].form.comparable() {
			w.prev[i] = append(w.prev[i][:0], v...)
		}
	}
}

// comparable says whether a value may be left out when it is that of the row before.
func (f valueForm) comparable() bool {
	return f == formCLR || f == formRowid || f == formUrowid
}

func (w *rowWriter) value(c *column, v ora.Value) error {
	e := w.enc
	switch c.form {
	case formNone:
	case formRowid:
		return e.rowid(v)
	case formUrowid:
		return e.urowid(v)
	case formLong:
		e.long(inForm(c.Type, c.charForm, v))
	case formLOB, formLOBPrefetch:
		w.lob(c, v)
	default:
		e.clr(v)
	}
	return nil
}

func (e *encoder) rowid(v ora.Value) error {
	const present = 14
	if len(v) == 0 {
		e.u8(0)
		return nil
	}
	id, err := ora.DecodeRowID(v)
	if err != nil {
		return err
	}
	e.u8(present)
	e.uint(uint64(id.Object))
	e.uint(uint64(id.File))
	e.u8(0)
	e.uint(uint64(id.Block))
	e.uint(uint64(id.Slot))
	return nil
}

// urowid sends a physical rowid in the universal form: kind 1, then the 12 bytes.
func (e *encoder) urowid(v ora.Value) error {
	const physical = 1
	if len(v) == 0 {
		e.u8(0)
		return nil
	}
	if _, err := ora.DecodeRowID(v); err != nil {
		return err
	}
	e.dalc(append([]byte{physical}, v...))
	return nil
}

func (e *encoder) long(v ora.Value) {
	const columnIsNull = 1405
	e.clr(v)
	if len(v) == 0 {
		e.sint(-1)
		e.uint(columnIsNull)
		return
	}
	e.raw(0, 0)
}

// lob sends a locator, with what the client wants to have at once. Only nil is NULL: a LOB may be empty.
func (w *rowWriter) lob(c *column, v ora.Value) {
	e := w.enc
	if v == nil {
		e.u8(0)
		return
	}
	l := travelling(c.Type, v)
	locator := w.lobs.add(l)
	e.uint(uint64(len(locator)))
	if c.form == formLOBPrefetch {
		e.uint(uint64(l.length()))
		e.uint(lobChunk)
		if c.prefetch > 0 {
			if l.text {
				e.u8(1) // the character set follows
				e.uint(charsetUTF16)
				e.u8(c.Type.Form)
			}
			e.clr(l.read(1, int64(c.prefetch)))
		}
	}
	e.clr(locator)
}

// drained says whether err is the end of a result.
func drained(err error) bool { return err == io.EOF }
