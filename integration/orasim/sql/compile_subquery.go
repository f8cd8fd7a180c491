package sql

import (
	"errors"
	"io"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// once runs a subquery: again for every row when it is correlated, else once an execution.
func once[T any](f *frame, p *subplan, run func() (T, error)) (T, error) {
	if p.correlated {
		return run()
	}
	if v, ok := f.x.cached[p]; ok {
		return v.(T), nil
	}
	v, err := run()
	if err != nil {
		return v, err
	}
	if f.x.cached == nil {
		f.x.cached = map[*subplan]any{}
	}
	f.x.cached[p] = v
	return v, nil
}

// inner compiles a subquery of an expression; it sees the current scope.
func (c *compiler) inner(s *selectStmt, columns int) (*subplan, error) {
	if s.locking != nil {
		return nil, errAt(s.at(), 907, "missing right parenthesis")
	}
	p, err := c.query(s)
	if err != nil {
		return nil, err
	}
	switch {
	case columns == 0 || len(p.columns) == columns:
		return p, nil
	case len(p.columns) > columns:
		return nil, errAt(s.at(), 913, "too many values")
	}
	return nil, errAt(s.at(), 947, "not enough values")
}

// scalar compiles a subquery that stands for one value.
func (c *compiler) scalar(n *subquery) (expr, error) {
	p, err := c.inner(n.sel, 1)
	if err != nil {
		return expr{}, err
	}
	return expr{typ: p.columns[0].Type, nullable: true, eval: func(f *frame) (ora.Value, error) {
		return once(f, p, func() (ora.Value, error) {
			r, err := p.open(f.x, f, false)
			if err != nil {
				return nil, err
			}
			row, err := r.next()
			if errors.Is(err, io.EOF) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			if _, err := r.next(); !errors.Is(err, io.EOF) {
				if err != nil {
					return nil, err
				}
				return nil, ora.Errorf(1427, "single-row subquery returns more than one row")
			}
			return row[0], nil
		})
	}}, nil
}

func (c *compiler) exists(n *existsCond) (condition, error) {
	p, err := c.inner(n.sub, 0)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (tri, error) {
		return once(f, p, func() (tri, error) {
			r, err := p.open(f.x, f, true)
			if err != nil {
				return isUnknown, err
			}
			_, err = r.next()
			if errors.Is(err, io.EOF) {
				return isFalse, nil
			}
			return isTrue, err
		})
	}, nil
}

// members is the result of a subquery of IN, as a set.
type members struct {
	keys  map[string]struct{}
	nulls bool
}

// inQuery compiles x IN (query): true for a member, unknown when it is none but the query has a NULL.
func (c *compiler) inQuery(n *inCond) (condition, error) {
	p, err := c.inner(n.sub, 1)
	if err != nil {
		return nil, err
	}
	x, err := c.expr(n.x)
	if err != nil {
		return nil, err
	}
	trim := x.typ.Code == ora.Char && p.columns[0].Type.Code == ora.Char
	l, r, _, err := comparable(x, slotExpr(0, p.columns[0].Type, true), n.at())
	if err != nil {
		return nil, err
	}
	zone := classOf(l.typ) == classTZ
	normal := func(v ora.Value) string {
		if zone {
			v = v[:min(len(v), 11)]
		}
		for trim && len(v) > 0 && v[len(v)-1] == ' ' {
			v = v[:len(v)-1]
		}
		return string(v)
	}
	return negated(func(f *frame) (tri, error) {
		set, err := once(f, p, func() (*members, error) { return membersOf(p, f, r, normal) })
		if err != nil {
			return isUnknown, err
		}
		v, err := l.eval(f)
		if err != nil {
			return isUnknown, err
		}
		if len(v) == 0 {
			if len(set.keys) == 0 && !set.nulls {
				return isFalse, nil
			}
			return isUnknown, nil
		}
		if _, in := set.keys[normal(v)]; in {
			return isTrue, nil
		}
		if set.nulls {
			return isUnknown, nil
		}
		return isFalse, nil
	}, n.not), nil
}

func membersOf(p *subplan, f *frame, member expr, normal func(ora.Value) string) (*members, error) {
	r, err := p.open(f.x, f, true)
	if err != nil {
		return nil, err
	}
	set := &members{keys: map[string]struct{}{}}
	inner := frame{x: f.x}
	for {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return set, nil
		}
		if err != nil {
			return nil, err
		}
		inner.row = row
		v, err := member.eval(&inner)
		if err != nil {
			return nil, err
		}
		if len(v) == 0 {
			set.nulls = true
		} else {
			set.keys[normal(v)] = struct{}{}
		}
	}
}
