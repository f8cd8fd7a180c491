package ttc

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/loadctl/loadctl/extract"
)

// Rows is a result. One reply holds up to so many rows as one fetch asks for; a batch takes of it what it may, and the
// rest waits, undecoded, on the connection. As soon as a reply has ended the next one is asked for, so that the server
// works and the network carries while the batch is being used.
type Rows struct {
	session *Session
	columns []Column
	decoder decoder
	fetch   int
	cursor  int

	asked bool  // a reply is under way
	done  bool  // the server has said that there are no more rows
	end   error // io.EOF, or why there will be no more; every later Next returns it
	rows  int64
	reply int64 // rows of the current reply so far
}

// query executes a statement up to the description of its result.
func (s *Session) query(ctx context.Context, x statement) (*Rows, error) {
	r := &Rows{session: s, fetch: x.fetch}
	err := s.call(ctx, func() error {
		if err := s.execute(x); err != nil {
			return err
		}
		r.asked = true
		return r.describe()
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Rows) describe() error {
	s := r.session
	for {
		switch m := s.in.message(); m {
		case msgDescribe:
			r.columns = s.describe()
			if !s.in.void {
				return s.in.err
			}
		case msgEnd:
			end, ok := s.end()
			if !ok {
				continue
			}
			s.stale = appendCursor(s.stale, end.cursor)
			if err := end.fault(); err != nil {
				return err
			}
			s.in.confused("no description of a result")
		default:
			if err := s.other(m); err != nil {
				return err
			}
		}
	}
}

// decodeAs says what the columns become.
func (r *Rows) decodeAs(cols []extract.Column) error {
	if len(cols) != len(r.columns) {
		return fmt.Errorf("%w: the server describes %d columns, %d were asked for", extract.ErrQuery, len(r.columns), len(cols))
	}
	d, err := newDecoder(r.columns, cols, r.session.in.bigChunk)
	r.decoder = d
	return err
}

// Next fills b, which it resets first, with at least one row, up to its limits or to the end of a reply; io.EOF after
// the last row. After an error of the server the session is in step; after a ValueError b holds what was decoded of the
// row that failed, behind its whole rows.
func (r *Rows) Next(ctx context.Context, b *extract.Batch) error {
	b.Reset()
	if r.end == nil {
		r.end = r.session.call(ctx, func() error { return r.next(b) })
	}
	return r.end
}

func (r *Rows) next(b *extract.Batch) error {
	for {
		more, err := r.step(b)
		if err != nil {
			r.session.abandon(err)
			return err
		}
		if !more {
			break
		}
	}
	if b.Rows == 0 {
		return io.EOF
	}
	r.decoder.remember(b)
	return nil
}

// abandon breaks the session unless the error is the server's, which leaves nothing unread.
func (s *Session) abandon(err error) {
	var said *Error
	if !errors.As(err, &said) {
		s.in.fail(err)
	}
}

// step takes one message; more is false when the batch is ready.
func (r *Rows) step(b *extract.Batch) (more bool, err error) {
	if !r.asked {
		if r.done || b.Rows > 0 {
			return false, nil
		}
		if err := r.ask(); err != nil {
			return false, err
		}
	}
	s := r.session
	full := r.decoder.full(b)
	if full && r.reply < int64(r.fetch) {
		return false, nil
	}
	switch m := s.in.message(); m {
	case msgRow, msgBitVector:
		if full {
			return false, nil
		}
		return true, r.decode(b)
	case msgRowHeader:
		r.decoder.vector = s.in.rowHeader(r.decoder.vector)
		return true, s.in.err
	case msgEnd:
		err := r.endReply()
		return b.Rows == 0, err
	default:
		return true, s.other(m)
	}
}

// ask sends the next fetch.
func (r *Rows) ask() error {
	o := &r.session.out
	o.reset()
	o.function(fnFetch)
	o.uint(uint64(r.cursor))
	o.uint(uint64(r.fetch))
	r.asked, r.reply = true, 0
	return r.session.send()
}

// decode takes the rows that follow, as far as the batch has room.
func (r *Rows) decode(b *extract.Batch) error {
	in, before := r.session.in, b.Rows
	err := r.decoder.rows(in, b, r.rows-int64(before))
	r.rows += int64(b.Rows - before)
	r.reply += int64(b.Rows - before)
	return err
}

// endReply takes the end of a reply: of all rows, of these, or an error.
func (r *Rows) endReply() error {
	end, ok := r.session.end()
	if !ok {
		return r.session.in.err
	}
	if end.cursor != 0 {
		r.cursor = end.cursor
	}
	r.asked = false
	r.decoder.abort()
	switch {
	case end.code == codeNoMoreRows && end.rows != r.rows:
		return fmt.Errorf("%w: the server counts %d rows, %d came", extract.ErrShort, end.rows, r.rows)
	case end.code == codeNoMoreRows:
		r.done = true
		return nil
	case end.code != 0:
		return end.fault()
	case r.reply == 0:
		return fmt.Errorf("%w: after %d rows the server sent none, and no end", extract.ErrShort, r.rows)
	}
	return r.ask()
}

// rowHeader reads what leads the rows of a reply, and the bit vector of its first row, if it has one.
func (in *input) rowHeader(vector []byte) []byte {
	in.skip(2)
	in.ints(4)
	out := vector[:0]
	if in.int() > 0 {
		out = append(out, in.raw(int(in.u1()))...)
	}
	in.dalc() // row id
	return out
}

// Close ends the result, breaks off what is still to come of it, and has the server forget its cursor by the next
// statement. The session is then in step, or broken.
func (r *Rows) Close() {
	s := r.session
	if r.asked && s.in.err == nil {
		s.link.interrupt(closeGrace)
		s.settle()
	}
	s.stale = appendCursor(s.stale, r.cursor)
	r.asked, r.cursor = false, 0
	if r.end == nil {
		r.end = errClosed
	}
}

// errClosed is what a closed result answers.
var errClosed = errors.New("the result is closed")

// texts reads every row of a result of texts.
func (r *Rows) texts(ctx context.Context, b *extract.Batch) ([][]string, error) {
	var out [][]string
	for {
		err := r.Next(ctx, b)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range b.Rows {
			row := make([]string, len(b.Cols))
			for j := range b.Cols {
				row[j] = string(b.Cols[j].At(i))
			}
			out = append(out, row)
		}
	}
}
