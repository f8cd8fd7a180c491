package sql

import (
	"errors"
	"io"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// convertRows brings the columns of one side of a set operation to the common types.
type convertRows struct {
	in    rows
	exprs []expr
	f     frame
}

func (r *convertRows) next() ([]ora.Value, error) {
	row, err := r.in.next()
	if err != nil {
		return nil, err
	}
	r.f.row = row
	out := make([]ora.Value, len(r.exprs))
	for i := range r.exprs {
		if out[i], err = r.exprs[i].eval(&r.f); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// combine is a set operation on two inputs.
func combine(op string, l, r rows) rows {
	switch op {
	case "UNION ALL":
		return &concatRows{l: l, r: r}
	case "UNION":
		return &distinctRows{in: &concatRows{l: l, r: r}}
	case "INTERSECT":
		return &distinctRows{in: &memberRows{l: l, r: r, want: true}}
	}
	return &distinctRows{in: &memberRows{l: l, r: r}}
}

type concatRows struct {
	l, r   rows
	second bool
}

func (c *concatRows) next() ([]ora.Value, error) {
	if !c.second {
		row, err := c.l.next()
		if !errors.Is(err, io.EOF) {
			return row, err
		}
		c.second = true
	}
	return c.r.next()
}

type distinctRows struct {
	in   rows
	seen map[string]struct{}
}

func (d *distinctRows) next() ([]ora.Value, error) {
	if d.seen == nil {
		d.seen = map[string]struct{}{}
	}
	for {
		row, err := d.in.next()
		if err != nil {
			return nil, err
		}
		k := rowKey(row)
		if _, dup := d.seen[k]; !dup {
			d.seen[k] = struct{}{}
			return row, nil
		}
	}
}

func rowKey(row []ora.Value) string {
	var b []byte
	for _, v := range row {
		b = appendKey(b, v)
	}
	return string(b)
}

// memberRows yields the rows of l that are, or are not, in r.
type memberRows struct {
	l, r rows
	want bool
	in   map[string]struct{}
}

func (m *memberRows) next() ([]ora.Value, error) {
	if m.in == nil {
		list, err := collect(m.r)
		if err != nil {
			return nil, err
		}
		m.in = make(map[string]struct{}, len(list))
		for _, row := range list {
			m.in[rowKey(row)] = struct{}{}
		}
	}
	for {
		row, err := m.l.next()
		if err != nil {
			return nil, err
		}
		if _, in := m.in[rowKey(row)]; in == m.want {
			return row, nil
		}
	}
}
