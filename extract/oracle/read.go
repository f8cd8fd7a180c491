package oracle

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// Read streams the rows of one slice, by the reader that the configuration and the columns allow.
func (s *Source) Read(ctx context.Context, q extract.Query, at extract.Snapshot, slice extract.Slice) (extract.Reader, error) {
	x := reading{source: s, doing: fmt.Sprintf("read slice %d of %s", slice.ID, quoteTable(q.Table.Name)), query: q, at: at, slice: slice}
	var err error
	if x.text, err = readText(q, at, slice); err != nil {
		return nil, fmt.Errorf("%s: %w", x.doing, err)
	}
	x.deadline = s.deadline()
	ctx, cancel := until(ctx, x.deadline, s.as.QueryTimeout)
	defer cancel()
	thin, why := s.readers.thin(q.Table.Columns)
	if thin {
		r, err := x.byThin(ctx)
		if err == nil {
			return r, nil
		}
		if !s.readers.fallBack(err) {
			return nil, err
		}
		_, why = s.readers.thin(q.Table.Columns)
	}
	r, err := x.byDriver(ctx, why)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// reading is what either reader does: one slice, read by one statement.
type reading struct {
	source   *Source
	doing    string // for errors
	query    extract.Query
	at       extract.Snapshot
	slice    extract.Slice
	text     string
	deadline time.Time // by query_timeout; zero for none
}

// take takes a session of a kind.
func (x *reading) take(ctx context.Context, k kind) (*session, error) {
	s, err := x.source.pool.take(ctx, wanted{kind: k, as: x.source.as, id: x.source.id})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.doing, err)
	}
	return s, nil
}

// until limits ctx to what is left of the query timeout.
func (x *reading) until(ctx context.Context) (context.Context, context.CancelFunc) {
	return until(ctx, x.deadline, x.source.as.QueryTimeout)
}

func (x *reading) fault(ctx context.Context, err error) error {
	return x.source.pool.cfg.fault(ctx, x.doing, &x.query.Table.Name, err)
}

// key names a row by the texts of its primary key, as far as the query has it and value knows them, or by its number.
func (x *reading) key(number int64, value func(column int) (text string, ok bool)) string {
	var parts []string
	for i, c := range x.query.Table.Columns {
		if !slices.Contains(x.query.Table.Key, c.Name) {
			continue
		}
		if text, ok := value(i); ok {
			parts = append(parts, quote(c.Name)+"="+text)
		}
	}
	if len(parts) < len(x.query.Table.Key) || len(parts) == 0 {
		return fmt.Sprintf("number %d of the slice", number)
	}
	return strings.Join(parts, ", ")
}

// byDriver begins to read with go-ora, by a session whose fetch size fits the declared width of the rows.
func (x reading) byDriver(ctx context.Context, why string) (*driverReader, error) {
	columns := x.query.Table.Columns
	ses, err := x.take(ctx, kind{prefetch: x.source.prefetch(columns)})
	if err != nil {
		return nil, err
	}
	driver, ok := ses.client.(*driverClient)
	if !ok {
		x.source.pool.give(ses)
		return nil, fmt.Errorf("%s: the pool gave another kind of session", x.doing)
	}
	r := &driverReader{reading: x, used: used{ReaderDriver, why}, session: ses, driver: driver}
	r.rows, err = driver.open(ctx, x.source.as.StallTimeout, x.text)
	if err == nil && len(r.rows.Columns()) != len(columns) {
		ses.spoilt = true
		err = fmt.Errorf("%w: the server describes %d columns, %d were asked for", extract.ErrQuery, len(r.rows.Columns()), len(columns))
	}
	if err != nil {
		x.source.pool.give(ses)
		return nil, r.fault(ctx, err)
	}
	r.prepare(columns)
	return r, nil
}

func (r *driverReader) prepare(columns []extract.Column) {
	r.row = make([]driver.Value, len(columns))
	r.put = make([]put, len(columns))
	for i, c := range columns {
		r.put[i] = putFor(c, r.session.unicode)
	}
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

// driverReader is one running query of the driver's. It owns its session until Close.
type driverReader struct {
	reading
	used
	session *session
	driver  *driverClient
	rows    driver.Rows
	row     []driver.Value
	put     []put
	count   int64 // rows read
	end     error // io.EOF or what broke the stream; every later Next returns it
}

// Next fills b.
func (r *driverReader) Next(ctx context.Context, b *extract.Batch) error {
	b.Reset()
	if r.end != nil {
		return r.end
	}
	ctx, cancel := r.until(ctx)
	defer cancel()
	err := r.driver.call(ctx, r.source.as.StallTimeout, func() error { return r.fill(b) })
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

func (r *driverReader) fill(b *extract.Batch) error {
	for !b.Full() || b.Rows == 0 {
		if err := r.rows.Next(r.row); err != nil {
			return err
		}
		for i, v := range r.row {
			if err := r.put[i](&b.Cols[i], v); err != nil {
				return fmt.Errorf("column %q of the row %s: %w", r.query.Table.Columns[i].Name, r.rowKey(), err)
			}
		}
		b.Rows++
		r.count++
	}
	return nil
}

// finish decides whether the end is the end. The driver takes any reply without a row for it; where the server has
// not said that there is no more, the rows are counted.
func (r *driverReader) finish(ctx context.Context) error {
	sure := r.driver.ended() // before the cursor is closed, which is another reply
	if err := r.driver.call(ctx, closeCursor, r.rows.Close); err != nil {
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
	r.session.spoilt = true
	return r.fault(ctx, fmt.Errorf("%w: %d rows came, the slice has %v", extract.ErrShort, r.count, rows))
}

// closeCursor is how long the server may take to close a cursor.
const closeCursor = 30 * time.Second

func (r *driverReader) fault(ctx context.Context, err error) error {
	if errors.Is(err, extract.ErrValue) {
		r.session.spoilt = true // rows are left on the connection
	}
	return r.reading.fault(ctx, err)
}

// rowKey names the current row.
func (r *driverReader) rowKey() string {
	return r.key(r.count+1, func(column int) (string, bool) { return fmt.Sprint(r.row[column]), true })
}

// Close gives the session back, or throws it away when rows are still to come.
func (r *driverReader) Close() error {
	if r.session == nil {
		return nil
	}
	if r.end != io.EOF {
		r.session.spoilt = true
	}
	r.source.pool.give(r.session)
	r.session = nil
	if r.end == nil {
		r.end = errReaderClosed
	}
	return nil
}

var errReaderClosed = errors.New("the reader is closed")
