package wire

import (
	"context"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Directions of binds in an IO vector.
const (
	directionOut = 16
	directionIn  = 32
)

// outputs appends what a PL/SQL block gives back: a vector that says which binds do, then their values.
func (s *session) outputs(layout []oac, list []ora.Output) error {
	if len(list) == 0 {
		return nil
	}
	e := &s.enc
	directions := make([]byte, len(layout))
	for i := range directions {
		directions[i] = directionIn
	}
	for _, o := range list {
		directions[o.Bind] = directionOut
	}
	e.u8(msgIOVector)
	e.u8(0) // flag
	e.uint(uint64(len(layout) & 0xFF))
	e.uint(uint64(len(layout) >> 8))
	e.uint(1)      // iterations
	e.raw(0, 0, 0) // buffer length, bit vector, rowid
	e.raw(directions...)
	e.u8(msgRow)
	w := rowWriter{enc: e, lobs: &s.lobs}
	for _, o := range list {
		if err := s.output(&w, layout[o.Bind], o); err != nil {
			return err
		}
		e.u8(0) // real length of a value that was cut: none is
	}
	return nil
}

func (s *session) output(w *rowWriter, bind oac, o ora.Output) error {
	if bind.Type.Code != ora.Cursor {
		c := column{Column: ora.Column{Type: bind.Type}, prefetch: bind.MaxChars, form: formCLR}
		switch {
		case isLOB(bind.Type.Code) && bind.Continuation&lobPrefetch != 0:
			c.form = formLOBPrefetch
		case isLOB(bind.Type.Code) || bind.Type.Code == ora.Rowid || bind.Type.Code == ora.Urowid:
			c.form = formOf(ora.Type{Code: bind.Type.Code, Bytes: 1})
		}
		return w.value(&c, o.Value)
	}
	if o.Cursor == nil {
		s.enc.u8(0)
		return nil
	}
	c, err := s.cursors.open()
	if err != nil {
		o.Cursor.Close()
		return err
	}
	c.stmt, c.source = openQuery{o.Columns}, o.Cursor
	if err := c.describe(o.Columns); err != nil {
		s.cursors.close(c.id)
		return err
	}
	s.enc.u8(1)
	s.describeBody(c.columns)
	s.enc.uint(uint64(c.id))
	return nil
}

// openQuery is the statement of a cursor that a block opened: it can be fetched from and not executed again.
type openQuery struct{ columns []ora.Column }

func (openQuery) Kind() ora.Kind          { return ora.KindSelect }
func (q openQuery) Columns() []ora.Column { return q.columns }
func (openQuery) Binds() []string         { return nil }

func (openQuery) Execute(context.Context, []ora.Bind) (ora.RowSource, int64, error) {
	return nil, 0, ora.Errorf(1001, "invalid cursor")
}
