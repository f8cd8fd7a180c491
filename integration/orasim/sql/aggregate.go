package sql

import (
	"errors"
	"io"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// aggregateName says whether a name is an aggregate function.
func aggregateName(name string) bool {
	switch name {
	case "COUNT", "SUM", "AVG", "MIN", "MAX":
		return true
	}
	return false
}

// aggregate is a compiled call of an aggregate.
type aggregate struct {
	name     string
	star     bool
	distinct bool
	float    bool // SUM and AVG in BINARY_DOUBLE
	arg      expr
	typ      ora.Type
	compare  comparer
}

// accumulator is the state of one aggregate in one group.
type accumulator struct {
	count  int64
	sum    ora.Num
	double float64
	best   ora.Value
	seen   map[string]struct{}
}

// add takes a row.
func (a *aggregate) add(acc *accumulator, f *frame) error {
	if a.star {
		acc.count++
		return nil
	}
	v, err := a.arg.eval(f)
	if err != nil || absent(a.arg.typ, v) {
		return err
	}
	if a.distinct {
		if acc.seen == nil {
			acc.seen = map[string]struct{}{}
		}
		if _, dup := acc.seen[string(v)]; dup {
			return nil
		}
		acc.seen[string(v)] = struct{}{}
	}
	acc.count++
	switch a.name {
	case "SUM", "AVG":
		return a.addNumber(acc, v)
	case "MIN":
		if acc.best == nil || a.compare(v, acc.best) < 0 {
			acc.best = v
		}
	case "MAX":
		if acc.best == nil || a.compare(v, acc.best) > 0 {
			acc.best = v
		}
	}
	return nil
}

func (a *aggregate) addNumber(acc *accumulator, v ora.Value) error {
	if a.float {
		d, err := ora.DecodeDouble(v)
		acc.double += d
		return err
	}
	d, err := ora.DecodeNumber(v)
	if err != nil {
		return err
	}
	acc.sum, err = acc.sum.Add(d)
	return err
}

// result is the aggregate's value over the group.
func (a *aggregate) result(acc *accumulator) (ora.Value, error) {
	switch {
	case a.name == "COUNT":
		return ora.EncodeInt(acc.count), nil
	case acc.count == 0:
		return nil, nil
	case a.name == "MIN" || a.name == "MAX":
		return acc.best, nil
	case a.float && a.name == "AVG":
		return ora.EncodeDouble(acc.double / float64(acc.count)), nil
	case a.float:
		return ora.EncodeDouble(acc.double), nil
	case a.name == "AVG":
		avg, err := acc.sum.Div(ora.NumFromInt(acc.count))
		return avg.Encode(), err
	}
	return acc.sum.Encode(), nil
}

// groupRows reads all rows, then yields one for each group, in the order in which groups first came.
type groupRows struct {
	p    *groupPlan
	in   rows
	f    *frame
	list *listRows
}

type group struct {
	keys []ora.Value
	accs []accumulator
}

func (r *groupRows) next() ([]ora.Value, error) {
	if r.list == nil {
		groups, err := r.read()
		if err != nil {
			return nil, err
		}
		if r.list, err = r.finish(groups); err != nil {
			return nil, err
		}
	}
	for {
		row, err := r.list.next()
		if err != nil || r.p.having == nil {
			return row, err
		}
		r.f.row = row
		t, err := r.p.having(r.f)
		if err != nil || t == isTrue {
			return row, err
		}
	}
}

func (r *groupRows) read() ([]*group, error) {
	var order []*group
	byKey := map[string]*group{}
	vals := make([]ora.Value, len(r.p.keys))
	var buf []byte
	if r.p.single {
		order = append(order, r.newGroup(nil))
		byKey[""] = order[0]
	}
	for {
		row, err := r.in.next()
		if errors.Is(err, io.EOF) {
			return order, nil
		}
		if err != nil {
			return nil, err
		}
		r.f.row = row
		buf = buf[:0]
		for i := range r.p.keys {
			if vals[i], err = r.p.keys[i].eval(r.f); err != nil {
				return nil, err
			}
			buf = appendKey(buf, vals[i])
		}
		g := byKey[string(buf)]
		if g == nil {
			g = r.newGroup(vals)
			byKey[string(buf)] = g
			order = append(order, g)
		}
		for i, a := range r.p.aggs {
			if err := a.add(&g.accs[i], r.f); err != nil {
				return nil, err
			}
		}
	}
}

func (r *groupRows) newGroup(vals []ora.Value) *group {
	return &group{append([]ora.Value(nil), vals...), make([]accumulator, len(r.p.aggs))}
}

func (r *groupRows) finish(groups []*group) (*listRows, error) {
	list := make([][]ora.Value, len(groups))
	for i, g := range groups {
		row := append(make([]ora.Value, 0, len(g.keys)+len(r.p.aggs)), g.keys...)
		for k, a := range r.p.aggs {
			v, err := a.result(&g.accs[k])
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		list[i] = row
	}
	return &listRows{list}, nil
}
