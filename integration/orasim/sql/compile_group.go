package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// grouping is what expressions above GROUP BY see: the group's keys and aggregates.
type grouping struct {
	plan  *groupPlan
	keys  map[string]int // key of a GROUP BY expression: its slot
	calls map[string]int // key of an aggregate call: its place in plan.aggs
}

// groupPlan is a compiled GROUP BY. Its rows are the keys followed by the aggregates.
type groupPlan struct {
	keys   []expr
	aggs   []*aggregate
	having condition
	single bool // no GROUP BY: one group, even of no rows
}

// grouping compiles GROUP BY and HAVING, if the block has groups; from then on the scope is that of the groups.
func (c *compiler) grouping(p *blockPlan, b *queryBlock, items []selectItem, order []orderItem) error {
	found := len(b.group) > 0 || b.having != nil
	for _, item := range items {
		found = found || anyNode(item.x, isAggregate)
	}
	for _, o := range order {
		found = found || anyNode(o.x, isAggregate)
	}
	if !found {
		return nil
	}
	g := &grouping{plan: &groupPlan{single: len(b.group) == 0}, keys: map[string]int{}, calls: map[string]int{}}
	for i, n := range b.group {
		x, err := c.expr(n)
		if err != nil {
			return err
		}
		if err := groupable(x.typ, n.at()); err != nil {
			return err
		}
		g.plan.keys = append(g.plan.keys, x)
		g.keys[c.keyOf(n)] = i
	}
	c.scope.groups = g
	p.group = g.plan
	if b.having == nil {
		return nil
	}
	var err error
	g.plan.having, err = c.cond(b.having)
	return err
}

// grouped compiles an expression that is a key of the group or an aggregate; ok is false for anything else.
func (c *compiler) grouped(n node) (e expr, ok bool, err error) {
	if c.scope == nil || c.scope.groups == nil {
		return expr{}, false, nil
	}
	g := c.scope.groups
	slot, found := g.keys[c.keyOf(n)]
	if found {
		x := g.plan.keys[slot]
		return slotExpr(slot, x.typ, x.nullable), true, nil
	}
	if !isAggregate(n) {
		return expr{}, false, nil
	}
	k := c.keyOf(n)
	i, found := g.calls[k]
	if !found {
		a, err := c.aggregate(n.(*call))
		if err != nil {
			return expr{}, true, err
		}
		i = len(g.plan.aggs)
		g.plan.aggs = append(g.plan.aggs, a)
		g.calls[k] = i
	}
	a := g.plan.aggs[i]
	return slotExpr(len(g.plan.keys)+i, a.typ, a.name != "COUNT"), true, nil
}

func slotExpr(slot int, typ ora.Type, nullable bool) expr {
	return expr{typ: typ, nullable: nullable, eval: func(f *frame) (ora.Value, error) { return f.row[slot], nil }}
}

// aggregate compiles a call of an aggregate; its argument sees the rows before grouping.
func (c *compiler) aggregate(n *call) (*aggregate, error) {
	a := &aggregate{name: n.name, star: n.star, distinct: n.distinct, typ: numberType()}
	if n.star {
		if n.name != "COUNT" {
			return nil, errAt(n.at(), 936, "missing expression")
		}
		return a, nil
	}
	if len(n.args) != 1 {
		return nil, errAt(n.at(), 909, "invalid number of arguments")
	}
	groups, noWindows := c.scope.groups, c.noWindows
	c.scope.groups, c.noWindows = nil, true
	x, err := c.expr(n.args[0])
	c.scope.groups, c.noWindows = groups, noWindows
	if err != nil {
		return nil, err
	}
	return a, a.take(x, n)
}

// groupable refuses types whose equality is not that of their bytes.
func groupable(t ora.Type, pos int) error {
	switch k := classOf(t); k {
	case classLob, classBlob, classOther:
		return errAt(pos, 932, "inconsistent datatypes: expected - got %s", k.name())
	case classTZ:
		return errAt(pos, 3001, "unimplemented feature: grouping by TIMESTAMP WITH TIME ZONE")
	}
	return nil
}

// take fits the argument to the aggregate.
func (a *aggregate) take(x expr, n *call) (err error) {
	k := classOf(x.typ)
	if a.distinct || k != classTZ && a.name != "COUNT" {
		if err := groupable(x.typ, argAt(n, 0)); err != nil {
			return err
		}
	}
	a.compare = bytesCompare
	if k == classTZ {
		a.compare = zoneCompare
	}
	a.arg = x
	switch a.name {
	case "MIN", "MAX":
		if k != classNumber {
			a.typ = x.typ
		}
	case "SUM", "AVG":
		a.float = k == classFloat
		if a.float {
			a.typ = plainType(classFloat)
			a.arg, err = x.to(classFloat, argAt(n, 0))
		} else {
			a.arg, err = x.to(classNumber, argAt(n, 0))
		}
	}
	return err
}

// setOperation compiles UNION [ALL], INTERSECT and MINUS.
func (c *compiler) setOperation(n *setOp) (*subplan, error) {
	l, err := c.body(n.l, nil)
	if err != nil {
		return nil, err
	}
	r, err := c.body(n.r, nil)
	if err != nil {
		return nil, err
	}
	if len(l.columns) != len(r.columns) {
		return nil, errAt(n.at(), 1789, "query block has incorrect number of result columns")
	}
	columns := append([]ora.Column(nil), l.columns...)
	var left, right []expr
	for i := range columns {
		both := []expr{
			slotExpr(i, l.columns[i].Type, l.columns[i].Nullable), slotExpr(i, r.columns[i].Type, r.columns[i].Nullable),
		}
		typ, err := unify(both, []node{n, n})
		if err != nil {
			return nil, errAt(n.at(), 1790, "expression must have same datatype as corresponding expression")
		}
		if n.op != "UNION ALL" {
			if err := groupable(typ, n.at()); err != nil {
				return nil, err
			}
		}
		columns[i].Type, columns[i].Nullable = typ, both[0].nullable || both[1].nullable
		left, right = append(left, both[0]), append(right, both[1])
	}
	plan := &subplan{columns: columns, correlated: l.correlated || r.correlated}
	plan.open = func(x *execution, outer *frame, _ bool) (rows, error) {
		lr, err := l.open(x, outer, false)
		if err != nil {
			return nil, err
		}
		rr, err := r.open(x, outer, false)
		if err != nil {
			return nil, err
		}
		return combine(n.op, &convertRows{lr, left, frame{x: x}}, &convertRows{rr, right, frame{x: x}}), nil
	}
	return plan, nil
}

// orderResult sorts the rows of a set operation, by the names and positions of its columns.
func (c *compiler) orderResult(plan *subplan, order []orderItem) (*subplan, error) {
	t := &scopeTable{columns: plan.columns, rowid: -1}
	items := make([]selectItem, len(plan.columns))
	for i := range items {
		items[i].x = &starRef{table: t, column: i}
	}
	order, err := positions(order, items)
	if err != nil {
		return nil, err
	}
	p := &blockPlan{src: &planSource{plan}, windows: &windowPlan{}}
	err = c.within([]*scopeTable{t}, c.scope, func() error {
		if _, err := c.project(p, items); err != nil {
			return err
		}
		return c.orderBy(p, items, order)
	})
	return &subplan{columns: plan.columns, correlated: plan.correlated, open: p.open}, err
}
