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
		r.end = r.fault(ctx, r.located(err, b))
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

// Close gives the session back, in step, or throws it away.
func (r *thinReader) Close() error {
	if r.session == nil {
		return nil
	}
	r.rows.Close()
	r.source.pool.give(r.session)
	r.session = nil
	if r.end == nil {
		r.end = errReaderClosed
	}
	return nil
}
