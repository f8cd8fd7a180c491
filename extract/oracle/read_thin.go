package oracle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle/ttc"
)

// thinReader is one running query of our own client's. It owns its session until Close.
type thinReader struct {
	reading
	used
	session *session
	rows    *ttc.Rows
	end     error // io.EOF or what broke the stream; every later Next returns it
}

// byThin begins to read with our own client.
func (x reading) byThin(ctx context.Context) (*thinReader, error) {
	columns := x.query.Table.Columns
	ses, err := x.take(ctx, kind{thin: true})
	if err != nil {
		return nil, err
	}
	thin, ok := ses.client.(*thinClient)
	if !ok {
		x.source.pool.give(ses)
		return nil, fmt.Errorf("%s: the pool gave another kind of session", x.doing)
	}
	r := &thinReader{reading: x, used: used{ReaderThin, ""}, session: ses}
	thin.session.SetPatience(x.source.as.StallTimeout)
	r.rows, err = thin.session.Query(ctx, ttc.Query{Text: x.text, Columns: columns, Fetch: x.source.prefetch(columns)})
	if err != nil {
		x.source.pool.give(ses)
		return nil, r.fault(ctx, err)
	}
	return r, nil
}

// Next fills b.
func (r *thinReader) Next(ctx context.Context, b *extract.Batch) error {
	b.Reset()
	if r.end != nil {
		return r.end
	}
	ctx, cancel := r.until(ctx)
	defer cancel()
	err := r.rows.Next(ctx, b)
	if err == nil {
		return nil
	}
	r.end = err
	if err != io.EOF {
		r.end = r.fault(ctx, r.counted(ctx, r.located(err, b)))
		b.Truncate(b.Rows) // a row that was cut in the middle
	}
	return r.end
}

// located says which row a value is of, by its key where that has been decoded.
func (r *thinReader) located(err error, b *extract.Batch) error {
	var bad *ttc.ValueError
	if !errors.As(err, &bad) {
		return err
	}
	key := r.key(bad.Row, func(column int) (string, bool) {
		if r.query.Table.Columns[column].Name == bad.Column {
			return bad.Value, true
		}
		v := &b.Cols[column]
		if v.Len() <= b.Rows || v.IsNull(b.Rows) {
			return "", false
		}
		return string(v.AppendText(nil, b.Rows)), true
	})
	return fmt.Errorf("column %q of the row %s: %w: %s: %s", bad.Column, key, extract.ErrValue, bad.Value, bad.Why)
}

// counted adds to a stream that ended early how many rows there are. The broken session makes room for the one that
// counts.
func (r *thinReader) counted(ctx context.Context, err error) error {
	if !errors.Is(err, extract.ErrShort) {
		return err
	}
	r.release()
	text, textErr := countText(r.query, r.at, r.slice)
	if textErr != nil {
		return errors.Join(err, textErr)
	}
	has := ""
	countErr := r.source.with(ctx, "count them", nil, func(ses *session) error {
		rows, err := ses.all(ctx, text)
		if err == nil && len(rows) == 1 {
			has = rows[0][0]
		}
		return err
	})
	if countErr != nil {
		return fmt.Errorf("%w; the rows of the slice could not be counted: %w", err, countErr)
	}
	return fmt.Errorf("%w; the slice has %s rows", err, has)
}

// Close gives the session back, in step, or throws it away.
func (r *thinReader) Close() error {
	r.release()
	if r.end == nil {
		r.end = errReaderClosed
	}
	return nil
}

func (r *thinReader) release() {
	if r.session == nil {
		return
	}
	r.rows.Close()
	r.source.pool.give(r.session)
	r.session = nil
}
