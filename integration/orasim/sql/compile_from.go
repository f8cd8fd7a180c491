package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// unit is a part of FROM while it is put together: a source and the tables whose columns make up its rows.
type unit struct {
	src    source
	tables []*scopeTable
	width  int
}

// namedSource is a query of a WITH clause.
type namedSource struct {
	plan    *subplan
	columns []ora.Column
}

// from compiles one item of FROM; its conditions see the scope around the query, but no item beside it.
func (c *compiler) from(item fromItem, outer *scope) (*unit, error) {
	switch item := item.(type) {
	case *tableRef:
		return c.tableUnit(item, outer)
	case *derived:
		plan, err := c.nested(item.sel, outer)
		if err != nil {
			return nil, err
		}
		t := &scopeTable{name: item.alias, columns: plan.columns, rowid: -1}
		return &unit{&planSource{plan}, []*scopeTable{t}, len(plan.columns)}, nil
	}
	j := item.(*joined)
	l, err := c.from(j.l, outer)
	if err != nil {
		return nil, err
	}
	r, err := c.from(j.r, outer)
	if err != nil {
		return nil, err
	}
	return c.join(l, r, conjuncts(j.on), j.left, outer)
}

// nested compiles a query with the scope around it and no names of the query that it stands in.
func (c *compiler) nested(s *selectStmt, outer *scope) (*subplan, error) {
	saved := c.scope
	c.scope = outer
	defer func() { c.scope = saved }()
	return c.query(s)
}

// within runs a compilation in a scope of some tables.
func (c *compiler) within(tables []*scopeTable, outer *scope, compile func() error) error {
	saved := c.scope
	c.scope = &scope{tables: tables, outer: outer}
	defer func() { c.scope = saved }()
	return compile()
}

// sides of a join that an expression refers to.
const (
	onLeft = 1 << iota
	onRight
	elsewhere // a query around, nothing at all, or a subquery that may see everything
)

func (c *compiler) sideOf(n node, l, r *unit) int {
	if hasSubquery(n) {
		return elsewhere
	}
	side := 0
	anyNode(n, func(n node) bool {
		ref, ok := n.(*columnRef)
		if !ok {
			return false
		}
		ls, rs := &scope{tables: l.tables}, &scope{tables: r.tables}
		if at, _, err := ls.find(ref); at >= 0 || err != nil {
			side |= onLeft
		}
		if at, _, err := rs.find(ref); at >= 0 || err != nil {
			side |= onRight
		}
		return false
	})
	if side == 0 {
		return elsewhere
	}
	return side
}

// join puts two units together. Equalities between the sides become hash keys, conditions on the right side
// alone filter it first, the rest is checked on the joined row.
func (c *compiler) join(l, r *unit, on []node, left bool, outer *scope) (*unit, error) {
	s := &joinSource{l: l.src, rightWidth: r.width, left: left}
	var rest, onlyRight []node
	for _, n := range on {
		switch side := c.sideOf(n, l, r); {
		case side == onRight:
			onlyRight = append(onlyRight, n)
		case side == onLeft|onRight:
			ok, err := c.joinKeys(s, n, l, r, outer)
			if err != nil {
				return nil, err
			}
			if !ok {
				rest = append(rest, n)
			}
		default:
			rest = append(rest, n)
		}
	}
	if err := c.filter(r, onlyRight, outer); err != nil {
		return nil, err
	}
	s.r = r.src
	for _, t := range r.tables {
		t.offset += l.width
	}
	u := &unit{s, append(append([]*scopeTable(nil), l.tables...), r.tables...), l.width + r.width}
	err := c.within(u.tables, outer, func() error {
		for _, n := range rest {
			x, err := c.cond(n)
			if err != nil {
				return err
			}
			s.on = append(s.on, x)
		}
		return nil
	})
	return u, err
}

// joinKeys takes an equality between the sides as a hash key; false when it is none.
func (c *compiler) joinKeys(s *joinSource, n node, l, r *unit, outer *scope) (bool, error) {
	eq, ok := n.(*binary)
	if !ok || eq.op != "=" {
		return false, nil
	}
	ln, rn := eq.l, eq.r
	if c.sideOf(ln, l, r) == onRight && c.sideOf(rn, l, r) == onLeft {
		ln, rn = rn, ln
	}
	if c.sideOf(ln, l, r) != onLeft || c.sideOf(rn, l, r) != onRight {
		return false, nil
	}
	var lx, rx expr
	compileSide := func(x *expr, n node) func() error {
		return func() (err error) {
			*x, err = c.expr(n)
			return err
		}
	}
	if err := c.within(l.tables, outer, compileSide(&lx, ln)); err != nil {
		return false, err
	}
	if err := c.within(r.tables, outer, compileSide(&rx, rn)); err != nil {
		return false, err
	}
	trim := lx.typ.Code == ora.Char && rx.typ.Code == ora.Char
	lx, rx, _, err := comparable(lx, rx, eq.at())
	if err != nil {
		return false, err
	}
	zone := classOf(lx.typ) == classTZ
	s.lkeys = append(s.lkeys, joinKey{lx, trim, zone})
	s.rkeys = append(s.rkeys, joinKey{rx, trim, zone})
	return true, nil
}

// filter puts conditions on a unit's own rows in front of it.
func (c *compiler) filter(u *unit, conds []node, outer *scope) error {
	if len(conds) == 0 {
		return nil
	}
	f := &filterSource{source: u.src}
	base, _ := u.src.(narrower)
	err := c.within(u.tables, outer, func() error {
		for _, n := range conds {
			x, err := c.cond(n)
			if err != nil {
				return err
			}
			if base != nil {
				if b := c.bounds(n, u.tables[0]); len(b) > 0 && base.narrow(b) {
					continue
				}
			}
			f.conds = append(f.conds, x)
		}
		return nil
	})
	if len(f.conds) > 0 {
		u.src = f
	}
	return err
}

// fromList compiles the comma list of FROM and takes from where what can be checked while joining; what is
// left is returned.
func (c *compiler) fromList(b *queryBlock, where []node, outer *scope) (*unit, []*scopeTable, []node, error) {
	var units []*unit
	var tables []*scopeTable // in the order of FROM, which * follows
	for _, item := range b.from {
		u, err := c.from(item, outer)
		if err != nil {
			return nil, nil, nil, err
		}
		units = append(units, u)
		tables = append(tables, u.tables...)
	}
	if err := duplicateAlias(tables, b.at()); err != nil {
		return nil, nil, nil, err
	}
	if b.connect != nil {
		if len(units) > 1 {
			return nil, nil, nil, errAt(b.at(), 3001, "unimplemented feature: CONNECT BY on a join")
		}
		return units[0], tables, where, nil
	}
	units, outerConds, where, err := c.outerJoined(units, where)
	if err != nil {
		return nil, nil, nil, err
	}
	acc := units[0]
	for i, u := range units {
		own, rest := c.only(where, u)
		if outerConds[u] == nil { // a condition on the optional side of an outer join is checked after it
			if err := c.filter(u, own, outer); err != nil {
				return nil, nil, nil, err
			}
			where = rest
		}
		if i == 0 {
			continue
		}
		on, left := outerConds[u], outerConds[u] != nil
		if !left {
			on, where = c.only(where, acc, u)
		}
		if acc, err = c.join(acc, u, on, left, outer); err != nil {
			return nil, nil, nil, err
		}
	}
	return acc, tables, where, nil
}

func duplicateAlias(tables []*scopeTable, pos int) error {
	seen := map[[2]string]bool{}
	for _, t := range tables {
		k := [2]string{t.schema, t.name}
		if t.name != "" && seen[k] {
			return errAt(pos, 918, "column ambiguously defined")
		}
		seen[k] = true
	}
	return nil
}

// only splits conditions into those that refer to nothing but the given units, and the rest.
func (c *compiler) only(conds []node, units ...*unit) (own, rest []node) {
	var in unit
	for _, u := range units {
		in.tables = append(in.tables, u.tables...)
	}
	for _, n := range conds {
		if !hasSubquery(n) && c.refersOnly(n, &scope{tables: in.tables}) {
			own = append(own, n)
		} else {
			rest = append(rest, n)
		}
	}
	return own, rest
}

// refersOnly says whether every name of an expression is a column of a scope, and there is one.
func (c *compiler) refersOnly(n node, s *scope) bool {
	found := false
	outside := anyNode(n, func(n node) bool {
		ref, ok := n.(*columnRef)
		if !ok {
			return false
		}
		at, _, err := s.find(ref)
		found = found || at >= 0
		return at < 0 || err != nil
	})
	return found && !outside
}

// outerJoined finds the conditions with (+): each makes the unit that it marks the optional side of a left
// join. Those units go last.
func (c *compiler) outerJoined(units []*unit, where []node) ([]*unit, map[*unit][]node, []node, error) {
	byUnit := map[*unit][]node{}
	var rest []node
	for _, n := range where {
		var marked *columnRef
		anyNode(n, func(n node) bool {
			if ref, ok := n.(*columnRef); ok && ref.outer {
				marked = ref
			}
			return false
		})
		if marked == nil {
			rest = append(rest, n)
			continue
		}
		u := owner(units, marked)
		if u == nil {
			return nil, nil, nil, errAt(marked.at(), 904, "%s: invalid identifier", quotedPath(marked.parts))
		}
		byUnit[u] = append(byUnit[u], n)
	}
	var inner, optional []*unit
	for _, u := range units {
		if byUnit[u] != nil {
			optional = append(optional, u)
		} else {
			inner = append(inner, u)
		}
	}
	if len(inner) == 0 {
		return nil, nil, nil, ora.Errorf(1416, "two tables cannot be outer-joined to each other")
	}
	for _, u := range optional { // an optional side of another optional side would need an order
		for _, n := range byUnit[u] {
			if own, _ := c.only([]node{n}, append(inner, u)...); len(own) == 0 {
				return nil, nil, nil, errAt(n.at(), 3001, "unimplemented feature: chain of (+) joins")
			}
		}
	}
	return append(inner, optional...), byUnit, rest, nil
}

func owner(units []*unit, ref *columnRef) *unit {
	for _, u := range units {
		s := &scope{tables: u.tables}
		if at, _, err := s.find(ref); at >= 0 || err != nil {
			return u
		}
	}
	return nil
}
