package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// Read streams the rows of one slice, by a session whose fetch size fits the declared width of the rows.
func (s *Source) Read(ctx context.Context, q extract.Query, at extract.Snapshot, slice extract.Slice) (extract.Reader, error) {
	r := &reader{source: s, doing: fmt.Sprintf("read slice %d of %s", slice.ID, quoteTable(q.Table.Name)), query: q, at: at, slice: slice}
	text, err := readText(q, at, slice)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.doing, err)
	}
	r.deadline = s.deadline()
	ctx, cancel := until(ctx, r.deadline, s.as.QueryTimeout)
	defer cancel()
	r.session, err = s.pool.take(ctx, wanted{prefetch: s.prefetch(q.Table.Columns), as: s.as, id: s.id})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.doing, err)
	}
	r.rows, err = r.session.open(ctx, s.as.StallTimeout, text)
	if err == nil && len(r.rows.Columns()) != len(q.Table.Columns) {
		r.session.broken = true
		err = fmt.Errorf("%w: the server describes %d columns, %d were asked for", extract.ErrQuery, len(r.rows.Columns()), len(q.Table.Columns))
	}
	if err != nil {
		s.pool.give(r.session)
		return nil, r.fault(ctx, err)
	}
	r.row = make([]driver.Value, len(q.Table.Columns))
	r.put = make([]put, len(q.Table.Columns))
	for i, c := range q.Table.Columns {
		r.put[i] = putFor(c, r.session.unicode)
	}
	return r, nil
}

// maxDriverPrefetch is the greatest fetch size that the driver sends undamaged.
const maxDriverPrefetch = math.MaxUint16

func (s *Source) prefetch(cols []extract.Column) int {
	n := s.as.FetchRows
	if n <= 0 {
		return prefetchFor(cols, s.pool.cfg.FetchBytes)
	}
	if n == driversOwn {
		n++
	}
	return min(n, maxDriverPrefetch)
}

// reader is one running query. It owns its session until Close.
type reader struct {
	source   *Source
	doing    string // for errors
	query    extract.Query
	at       extract.Snapshot
	slice    extract.Slice
	deadline time.Time // by query_timeout; zero for none

	session *session
	rows    driver.Rows
	row     []driver.Value
	put     []put
	count   int64 // rows read
	end     error // io.EOF or what broke the stream; every later Next returns it
}

// Next fills b.
func (r *reader) Next(ctx context.Context, b *extract.Batch) error {
	b.Reset()
	if r.end != nil {
		return r.end
	}
	ctx, cancel := until(ctx, r.deadline, r.source.as.QueryTimeout)
	defer cancel()
	err := r.session.call(ctx, r.source.as.StallTimeout, func() error { return r.fill(b) })
	if err == nil {
		return nil
	}
	if err != io.EOF {
		b.Truncate(b.Rows) // a row that was cut in the middle
		r.end = r.fault(ctx, err)
		return r.end
	}
	if r.end = r.finish(ctx); r.end == nil {
		r.end = io.EOF
	}
	if r.end == io.EOF && b.Rows > 0 {
		return nil
	}
	return r.end
}

func (r *reader) fill(b *extract.Batch) error {
	for !b.Full() || b.Rows == 0 {
		if err := r.rows.Next(r.row); err != nil {
			return err
		}
		for i, v := range r.row {
			if err := r.put[i](&b.Cols[i], v); err != nil {
				return fmt.Errorf("column %q of the row %s: %w", r.query.Table.Columns[i].Name, r.key(), err)
			}
		}
		b.Rows++
		r.count++
	}
	return nil
}

// finish decides whether the end is the end. The driver takes any reply without a row for it; where the server has
// not said that there is no more, the rows are counted.
func (r *reader) finish(ctx context.Context) error {
	sure := r.session.ended() // before the cursor is closed, which is another reply
	if err := r.session.call(ctx, closeCursor, r.rows.Close); err != nil {
		return r.fault(ctx, err)
	}
	if sure {
		return nil
	}
	text, err := countText(r.query, r.at, r.slice)
	if err != nil {
		return r.fault(ctx, err)
	}
	rows, err := r.session.all(ctx, text)
	if err != nil {
		return r.fault(ctx, fmt.Errorf("count the rows, because the stream had no clear end: %w", err))
	}
	if len(rows) == 1 && rows[0][0] == strconv.FormatInt(r.count, 10) {
		return nil
	}
	r.session.broken = true
	return r.fault(ctx, fmt.Errorf("%w: %d rows came, the slice has %v", extract.ErrShort, r.count, rows))
}

// closeCursor is how long the server may take to close a cursor.
const closeCursor = 30 * time.Second

func (r *reader) fault(ctx context.Context, err error) error {
	if errors.Is(err, extract.ErrValue) {
		r.session.broken = true // rows are left on the connection
	}
	return r.source.pool.cfg.fault(ctx, r.doing, &r.query.Table.Name, err)
}

// key names the current row by its primary key, as far as the query has it, or by its number.
func (r *reader) key() string {
	var parts []string
	for i, c := range r.query.Table.Columns {
		for _, k := range r.query.Table.Key {
			if c.Name == k {
				parts = append(parts, fmt.Sprintf("%s=%v", quote(k), r.row[i]))
			}
		}
	}
	if len(parts) < len(r.query.Table.Key) || len(parts) == 0 {
		return fmt.Sprintf("number %d of the slice", r.count+1)
	}
	return strings.Join(parts, ", ")
}

// Close gives the session back, or throws it away when rows are still to come.
func (r *reader) Close() error {
	if r.session == nil {
		return nil
	}
	if r.end != io.EOF {
		r.session.broken = true
	}
	r.source.pool.give(r.session)
	r.session = nil
	if r.end == nil {
		r.end = errReaderClosed
	}
	return nil
}

var errReaderClosed = errors.New("the reader is closed")
