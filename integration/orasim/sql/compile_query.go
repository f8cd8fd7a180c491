package sql

import (
	"maps"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// query compiles a whole query.
func (c *compiler) query(s *selectStmt) (*subplan, error) {
	saved := c.named
	defer func() { c.named = saved }()
	if err := c.withClause(s.with); err != nil {
		return nil, err
	}
	if s.ties {
		return nil, errAt(s.at(), 3001, "unimplemented feature: FETCH WITH TIES")
	}
	plan, err := c.body(s.body, s.order)
	if err != nil {
		return nil, err
	}
	if s.offset == nil && s.fetch == nil {
		return plan, nil
	}
	return c.limit(plan, s)
}

func (c *compiler) withClause(with []namedQuery) error {
	if len(with) == 0 {
		return nil
	}
	c.named = maps.Clone(c.named)
	if c.named == nil {
		c.named = map[string]*namedSource{}
	}
	for _, q := range with {
		plan, err := c.nested(q.sel, c.scope)
		if err != nil {
			return err
		}
		columns := append([]ora.Column(nil), plan.columns...)
		if len(q.columns) > 0 {
			if len(q.columns) != len(columns) {
				return errAt(q.sel.at(), 32038, "number of WITH clause column names does not match number of elements in select list")
			}
			for i := range columns {
				columns[i].Name = q.columns[i]
			}
		}
		c.named[q.name] = &namedSource{plan, columns}
	}
	return nil
}

// body compiles a block or a set operation, with its ORDER BY.
func (c *compiler) body(b queryBody, order []orderItem) (*subplan, error) {
	switch b := b.(type) {
	case *queryBlock:
		return c.block(b, order)
	case *selectStmt:
		plan, err := c.query(b)
		if err != nil || len(order) == 0 {
			return plan, err
		}
		return c.orderResult(plan, order)
	}
	plan, err := c.setOperation(b.(*setOp))
	if err != nil || len(order) == 0 {
		return plan, err
	}
	return c.orderResult(plan, order)
}

// limit puts OFFSET and FETCH around a plan.
func (c *compiler) limit(plan *subplan, s *selectStmt) (*subplan, error) {
	var bounds [2]*expr
	for i, n := range []node{s.offset, s.fetch} {
		if n == nil {
			continue
		}
		e, err := c.exprAs(n, classNumber)
		if err != nil {
			return nil, err
		}
		bounds[i] = &e
	}
	limited := *plan
	limited.open = func(x *execution, outer *frame, reuse bool) (rows, error) {
		in, err := plan.open(x, outer, reuse)
		if err != nil {
			return nil, err
		}
		r := &limitRows{in: in, all: bounds[1] == nil}
		for i, to := range []*int{&r.skip, &r.left} {
			if bounds[i] == nil {
				continue
			}
			v, err := bounds[i].eval(&frame{x: x, outer: outer})
			if err != nil {
				return nil, err
			}
			if len(v) > 0 {
				if *to, err = optionalInt([]ora.Value{v}, 0, 0); err != nil {
					return nil, err
				}
			}
		}
		return r, nil
	}
	return &limited, nil
}

// block compiles one SELECT block.
func (c *compiler) block(b *queryBlock, order []orderItem) (*subplan, error) {
	outer := c.scope
	refs := outerRefs(outer)
	defer func() { c.scope = outer }()
	where := conjuncts(b.where)
	u, tables, rest, err := c.fromList(b, where, outer)
	if err != nil {
		return nil, err
	}
	s := &scope{tables: tables, outer: outer, pseudo: true, hierarchy: b.connect != nil}
	c.scope = s
	p := &blockPlan{src: u.src, distinct: b.distinct, windows: &windowPlan{}}
	if err := c.conditions(p, b, where, rest); err != nil {
		return nil, err
	}
	items, err := c.expand(b.items, tables)
	if err != nil {
		return nil, err
	}
	order, err = positions(order, items)
	if err != nil {
		return nil, err
	}
	if err := c.grouping(p, b, items, order); err != nil {
		return nil, err
	}
	s.windows = p.windows
	columns, err := c.project(p, items)
	if err != nil {
		return nil, err
	}
	if err := c.orderBy(p, items, order); err != nil {
		return nil, err
	}
	dropRowids(p, u)
	plan := &subplan{columns: columns, correlated: outerRefs(outer) > refs, open: p.open}
	p.packable(plan)
	return plan, nil
}

// conditions compiles WHERE and CONNECT BY. All of where is compiled against all tables, so that an ambiguous
// name is found even where the condition itself is checked earlier.
func (c *compiler) conditions(p *blockPlan, b *queryBlock, where, rest []node) error {
	remaining := map[node]bool{}
	for _, n := range rest {
		remaining[n] = true
	}
	p.rownumCut = true
	for _, n := range where {
		x, err := c.cond(n)
		if err != nil {
			return err
		}
		switch {
		case !remaining[n]:
		case usesRownum(n):
			p.rownum = append(p.rownum, x)
			p.rownumCut = p.rownumCut && isRownumBound(n)
		default:
			p.where = append(p.where, x)
		}
	}
	if b.connect == nil {
		return nil
	}
	var err error
	p.connect, err = c.cond(b.connect)
	return err
}

func usesRownum(n node) bool {
	return anyNode(n, func(n node) bool {
		ref, ok := n.(*columnRef)
		return ok && len(ref.parts) == 1 && ref.parts[0] == "ROWNUM"
	})
}

// isRownumBound says whether a condition is ROWNUM < or <= a constant: once false it stays false.
func isRownumBound(n node) bool {
	b, ok := n.(*binary)
	if !ok || b.op != "<" && b.op != "<=" {
		return false
	}
	ref, ok := b.l.(*columnRef)
	if !ok || ref.parts[0] != "ROWNUM" {
		return false
	}
	switch b.r.(type) {
	case *literal, *bindRef:
		return true
	}
	return false
}

// expand replaces * by the columns it stands for.
func (c *compiler) expand(items []selectItem, tables []*scopeTable) ([]selectItem, error) {
	var list []selectItem
	for _, item := range items {
		if !item.star {
			list = append(list, item)
			continue
		}
		found := false
		for _, t := range tables {
			if !t.matches(item.table) {
				continue
			}
			found = true
			for _, i := range t.star() {
				col := t.columns[i]
				list = append(list, selectItem{loc: item.loc, alias: col.Name, x: &starRef{item.loc, t, i}})
			}
		}
		if !found {
			return nil, errAt(item.at(), 904, "%s: invalid identifier", quotedPath(item.table))
		}
	}
	return list, nil
}

// star is the columns that * stands for.
func (t *scopeTable) star() []int {
	if t.shown != nil {
		return t.shown
	}
	all := make([]int, len(t.columns))
	for i := range all {
		all[i] = i
	}
	return all
}

// starRef is a column that * stands for; it cannot be ambiguous.
type starRef struct {
	loc
	table  *scopeTable
	column int
}

// project compiles the select list.
func (c *compiler) project(p *blockPlan, items []selectItem) ([]ora.Column, error) {
	columns := make([]ora.Column, len(items))
	for i, item := range items {
		x, err := c.expr(item.x)
		if err != nil {
			return nil, err
		}
		if p.distinct {
			if err := groupable(x.typ, item.at()); err != nil {
				return nil, err
			}
		}
		p.items = append(p.items, x)
		columns[i] = ora.Column{Name: columnName(item), Type: x.typ, Nullable: x.nullable}
	}
	return columns, nil
}

func columnName(item selectItem) string {
	if item.alias != "" {
		return item.alias
	}
	if ref, ok := item.x.(*columnRef); ok {
		return ref.parts[len(ref.parts)-1]
	}
	name := item.text
	if len(name) > maxIdentifier {
		name = strings.ToValidUTF8(name[:maxIdentifier], "")
	}
	return name
}

// positions replaces ORDER BY 2 by the second item of the select list.
func positions(order []orderItem, items []selectItem) ([]orderItem, error) {
	list := append([]orderItem(nil), order...)
	for i, o := range list {
		lit, ok := o.x.(*literal)
		if !ok || lit.typ.Code != ora.Number {
			continue
		}
		n, err := ora.DecodeNumber(lit.value)
		if err != nil {
			return nil, err
		}
		k, whole := n.Int64()
		if !whole || k < 1 || k > int64(len(items)) {
			return nil, errAt(lit.at(), 1785, "ORDER BY item must be the number of a SELECT-list expression")
		}
		list[i].x = items[k-1].x
	}
	return list, nil
}

// orderBy compiles ORDER BY, which may use the names of the select list.
func (c *compiler) orderBy(p *blockPlan, items []selectItem, order []orderItem) error {
	c.scope.aliases = map[string]node{}
	for _, item := range items {
		if ref, same := item.x.(*columnRef); item.alias != "" && !(same && ref.parts[len(ref.parts)-1] == item.alias) {
			c.scope.aliases[item.alias] = item.x
		}
	}
	defer func() { c.scope.aliases = nil }()
	for _, o := range order {
		x, err := c.expr(o.x)
		if err != nil {
			return err
		}
		k, err := newOrderKey(x, o)
		if err != nil {
			return err
		}
		if p.distinct && !c.isSelected(o.x, items) {
			return errAt(o.x.at(), 1791, "not a SELECTed expression")
		}
		p.order = append(p.order, k)
	}
	return nil
}

func newOrderKey(x expr, o orderItem) (orderKey, error) {
	k := orderKey{x: x, desc: o.desc, nullsFirst: o.nullsFirst, compare: bytesCompare}
	switch cl := classOf(x.typ); cl {
	case classLob, classBlob, classOther:
		return k, errAt(o.x.at(), 932, "inconsistent datatypes: expected - got %s", cl.name())
	case classTZ:
		k.compare = zoneCompare
	}
	return k, nil
}

// isSelected says whether an expression is one of the select list, as DISTINCT demands of ORDER BY.
func (c *compiler) isSelected(n node, items []selectItem) bool {
	if ref, ok := n.(*columnRef); ok && len(ref.parts) == 1 {
		if x := c.scope.aliases[ref.parts[0]]; x != nil {
			return true
		}
	}
	k := c.keyOf(n)
	for _, item := range items {
		if item.x == n || c.keyOf(item.x) == k {
			return true
		}
	}
	return false
}

// dropRowids makes the tables leave out the ROWIDs that nothing in a block of one table uses: then their rows
// are not copied.
func dropRowids(p *blockPlan, u *unit) {
	if len(u.tables) != 1 || u.tables[0].rowid < 0 {
		return
	}
	src := u.src
	if f, ok := src.(*filterSource); ok {
		src = f.source
	}
	used := u.tables[0].rowidUsed
	switch t := src.(type) {
	case *tableSource:
		t.withRowid = used
	case *generatedSource:
		t.withRowid, t.stream = used, p.connect == nil && len(p.windows.list) == 0
	}
}
