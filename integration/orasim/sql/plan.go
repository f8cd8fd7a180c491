package sql

import (
	"errors"
	"io"
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// subplan is a compiled query. It can be opened any number of times.
type subplan struct {
	columns    []ora.Column
	correlated bool // it reads the row of a query around it
	open       func(x *execution, outer *frame, reuse bool) (rows, error)
}

// blockPlan is a compiled SELECT ... FROM ... WHERE ... block.
type blockPlan struct {
	src       source
	connect   condition
	where     []condition
	rownum    []condition // those that look at ROWNUM, checked last
	rownumCut bool        // rownum stays false once it is: nothing comes after
	group     *groupPlan
	windows   *windowPlan
	items     []expr
	distinct  bool
	order     []orderKey
}

// orderKey is one key of ORDER BY.
type orderKey struct {
	x                expr
	desc, nullsFirst bool
	compare          comparer
}

func (p *blockPlan) open(x *execution, outer *frame, reuse bool) (rows, error) {
	in, err := p.src.open(x, outer)
	if err != nil {
		return nil, err
	}
	r := &blockRows{p: p, in: in, reuse: reuse}
	r.f.x, r.f.outer = x, outer
	if p.connect != nil {
		r.in = &levelRows{in: in, connect: p.connect, f: &r.f}
	}
	if p.group != nil {
		r.in = &groupRows{p: p.group, in: r.filtered(), f: &r.f}
		r.prepared = true
	}
	if len(p.windows.list) > 0 {
		if !r.prepared {
			r.in = r.filtered()
		}
		r.in = &windowRows{p: p.windows, in: r.in, f: &r.f}
		r.prepared = true
	}
	if p.distinct {
		r.seen = map[string]struct{}{}
	}
	if len(p.order) > 0 {
		return &sortRows{in: r, keys: p.order}, nil
	}
	return r, nil
}

// blockRows filters and projects.
type blockRows struct {
	p        *blockPlan
	in       rows
	f        frame
	reuse    bool
	prepared bool // in yields what is left to project
	out      []ora.Value
	seen     map[string]struct{}
	keyBuf   []byte
	done     bool
}

func (r *blockRows) next() ([]ora.Value, error) {
	for {
		var err error
		if r.prepared {
			r.f.row, err = r.in.next()
		} else {
			err = r.step(r.in)
		}
		if err != nil {
			return nil, err
		}
		if err := r.project(); err != nil {
			return nil, err
		}
		if r.seen == nil || r.fresh() {
			return r.out, nil
		}
	}
}

// step reads the next row for which the conditions hold into the frame.
func (r *blockRows) step(in rows) error {
	if r.done {
		return io.EOF
	}
	for {
		row, err := in.next()
		if err != nil {
			return err
		}
		r.f.row = row
		ok, err := allTrue(r.p.where, &r.f)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		r.f.rownum++
		if ok, err = allTrue(r.p.rownum, &r.f); err != nil {
			return err
		}
		if ok {
			return nil
		}
		r.f.rownum--
		if r.p.rownumCut {
			r.done = true
			return io.EOF
		}
	}
}

// filtered is the rows before grouping.
func (r *blockRows) filtered() rows {
	in := r.in
	return rowsFunc(func() ([]ora.Value, error) {
		err := r.step(in)
		return r.f.row, err
	})
}

type rowsFunc func() ([]ora.Value, error)

func (f rowsFunc) next() ([]ora.Value, error) { return f() }

func (r *blockRows) project() error {
	if r.out == nil || !r.reuse {
		r.out = make([]ora.Value, len(r.p.items))
	}
	for i := range r.p.items {
		v, err := r.p.items[i].eval(&r.f)
		if err != nil {
			return err
		}
		r.out[i] = v
	}
	return nil
}

// fresh says whether no equal row came before.
func (r *blockRows) fresh() bool {
	r.keyBuf = r.keyBuf[:0]
	for _, v := range r.out {
		r.keyBuf = appendKey(r.keyBuf, v)
	}
	if _, dup := r.seen[string(r.keyBuf)]; dup {
		return false
	}
	r.seen[string(r.keyBuf)] = struct{}{}
	return true
}

// levelRows repeats the one row of its input while CONNECT BY holds for the next LEVEL.
type levelRows struct {
	in      rows
	connect condition
	f       *frame
	row     []ora.Value
	ended   bool
}

func (r *levelRows) next() ([]ora.Value, error) {
	if err := r.f.x.tick(); err != nil {
		return nil, err
	}
	if r.ended {
		return nil, io.EOF
	}
	if r.f.level == 0 {
		row, err := r.in.next()
		if err != nil {
			return nil, err
		}
		r.row, r.f.level = row, 1
		if _, err := r.in.next(); !errors.Is(err, io.EOF) {
			return nil, ora.Errorf(3001, "unimplemented feature: CONNECT BY on more than one row")
		}
		return row, nil
	}
	r.f.level++
	r.f.row = r.row
	t, err := r.connect(r.f)
	if err != nil {
		return nil, err
	}
	if t != isTrue {
		r.ended = true
		return nil, io.EOF
	}
	return r.row, nil
}

// sortRows orders the rows of a block by keys that are evaluated beside each.
type sortRows struct {
	in   *blockRows
	keys []orderKey
	list *listRows
}

type sortRecord struct{ row, keys []ora.Value }

func (r *sortRows) next() ([]ora.Value, error) {
	if r.list == nil {
		if err := r.sort(); err != nil {
			return nil, err
		}
	}
	return r.list.next()
}

func (r *sortRows) sort() error {
	r.in.reuse = false
	var records []sortRecord
	for {
		row, err := r.in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		rec := sortRecord{row, make([]ora.Value, len(r.keys))}
		for i := range r.keys {
			if rec.keys[i], err = r.keys[i].x.eval(&r.in.f); err != nil {
				return err
			}
		}
		records = append(records, rec)
	}
	slices.SortStableFunc(records, func(a, b sortRecord) int { return compareKeys(r.keys, a.keys, b.keys) })
	r.list = &listRows{make([][]ora.Value, len(records))}
	for i := range records {
		r.list.list[i] = records[i].row
	}
	return nil
}

func compareKeys(keys []orderKey, a, b []ora.Value) int {
	for i := range keys {
		k := &keys[i]
		an, bn := len(a[i]) == 0, len(b[i]) == 0
		d := 0
		switch {
		case an && bn:
		case an != bn:
			d = 1
			if an == k.nullsFirst {
				d = -1
			}
		default:
			d = k.compare(a[i], b[i])
			if k.desc {
				d = -d
			}
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

// limitRows is OFFSET and FETCH FIRST.
type limitRows struct {
	in         rows
	skip, left int
	all        bool // no FETCH: everything after skip
}

func (r *limitRows) next() ([]ora.Value, error) {
	for ; r.skip > 0; r.skip-- {
		if _, err := r.in.next(); err != nil {
			return nil, err
		}
	}
	if !r.all && r.left <= 0 {
		return nil, io.EOF
	}
	r.left--
	return r.in.next()
}
