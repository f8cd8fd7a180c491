package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// bound limits a column of a table by a value that is known before the table is read. The condition it comes
// from is still checked for every row that is found.
type bound struct {
	column int // by position; store.RowIDColumn
	op     string
	x      expr // in the column's encoding
}

// narrower is a source that may leave out rows for which bounds do not hold; exact says that it leaves out all
// of them.
type narrower interface {
	narrow(bounds []bound) (exact bool)
}

// bounds finds what a condition says about a column of a table. It is called in the scope of the table's row.
func (c *compiler) bounds(cond node, t *scopeTable) []bound {
	switch n := cond.(type) {
	case *binary:
		return c.boundOf(n, t)
	case *between:
		low := c.boundOf(&binary{n.loc, ">=", n.x, n.lo}, t)
		high := c.boundOf(&binary{n.loc, "<=", n.x, n.hi}, t)
		if !n.not && low != nil && high != nil {
			return append(low, high...)
		}
	}
	return nil
}

// boundOf is the bound in a comparison, if there is one.
func (c *compiler) boundOf(n *binary, t *scopeTable) []bound {
	op := n.op
	switch op {
	case "=", "<", "<=", ">", ">=":
	default:
		return nil
	}
	l, r := n.l, n.r
	ref, ok := l.(*columnRef)
	if !ok || !isFixed(r) {
		l, r = r, l
		if ref, ok = l.(*columnRef); !ok || !isFixed(r) {
			return nil
		}
		op = map[string]string{"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
	}
	at, _, err := c.scope.find(ref)
	if err != nil || at < 0 {
		return nil
	}
	x, ok := c.sortedAs(l, r, n.at())
	if !ok {
		return nil
	}
	if at == t.rowid {
		at = store.RowIDColumn
	}
	return []bound{{at, op, x}}
}

// isFixed says whether an expression has one value for a whole execution.
func isFixed(n node) bool {
	return !hasSubquery(n) && !anyNode(n, func(n node) bool {
		_, ok := n.(*columnRef)
		return ok
	})
}

// sortedAs compiles the value that a column is compared with; ok is false where the comparison is not that of
// the column's own bytes.
func (c *compiler) sortedAs(column, value node, pos int) (expr, bool) {
	l, err := c.expr(column)
	if err != nil {
		return expr{}, false
	}
	r, err := c.expr(value)
	if err != nil {
		return expr{}, false
	}
	own := classOf(l.typ)
	padded := l.typ.Code == ora.Char && r.typ.Code == ora.Char
	l, r, _, err = comparable(l, r, pos)
	if err != nil || !l.column || padded || classOf(l.typ) != own || own == classTZ || own == classFloat {
		return expr{}, false
	}
	return r, true
}

// limits evaluates bounds; none is true when no row can satisfy them, because a value is NULL.
func limits(bounds []bound, x *execution, outer *frame) (list []store.Limit, none bool, err error) {
	f := &frame{x: x, outer: outer}
	for _, b := range bounds {
		v, err := b.x.eval(f)
		if err != nil {
			return nil, false, err
		}
		if len(v) == 0 {
			return nil, true, nil
		}
		l := store.Limit{Column: b.column}
		switch b.op {
		case "=":
			l.Low, l.High = v, v
		case "<", "<=":
			l.High = v
		default:
			l.Low = v
		}
		list = append(list, l)
	}
	return list, false, nil
}
