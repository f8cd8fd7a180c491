package sql

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// addColumn appends a column's definition and its NOT NULL constraint.
func (o *object) addColumn(c *catalog, d columnDef) error {
	if !d.typed && !d.virtual && d.identity == "" {
		return errAt(d.at(), 2263, "need to specify the datatype for this column")
	}
	col := column{name: d.name, typ: d.typ, byDefault: d.byDefault, defaultText: d.defaultText, foreign: d.foreign,
		virtual: d.virtual, identity: d.identity, onNull: d.onNull, invisible: d.visible != nil && !*d.visible}
	if d.foreign.name != "" {
		if err := col.findForeign(c, o.owner); err != nil {
			return err
		}
	}
	if d.identity != "" {
		if !d.typed {
			col.typ = numberType()
		}
		if classOf(col.typ) != classNumber {
			return errAt(d.at(), 30675, "identity column must be a numeric type")
		}
		col.next = &atomic.Int64{}
		col.next.Store(int64(d.start))
	}
	if d.null != nil && !*d.null {
		col.notNull = true
		o.constraints = append(o.constraints, notNullConstraint(c, d))
	}
	o.columns = append(o.columns, col)
	return nil
}

// findForeign checks that the type of a column exists, and completes its owner.
func (col *column) findForeign(c *catalog, owner string) error {
	f := &col.foreign
	if known, ok := foreignOwners()[f.name]; ok && known == f.schema {
		return nil
	}
	if f.schema == "" {
		f.schema = owner
	}
	if t := c.objects[objectName{f.schema, f.name}]; t == nil || t.kind != kindType {
		return errAt(f.at(), 902, "invalid datatype")
	}
	return nil
}

// settleVirtual gives virtual columns without a declared type that of their expression, once all columns are
// known.
func (s *Session) settleVirtual(c *catalog, o *object) error {
	for i := range o.columns {
		col := &o.columns[i]
		if !col.virtual {
			continue
		}
		comp := &compiler{db: s.db, cat: c, ses: s, user: s.user, schema: s.schema, scope: rowScope(o, &tableRef{name: o.name})}
		e, err := comp.expr(col.byDefault)
		if err != nil {
			return err
		}
		if col.typ.Code == 0 {
			col.typ = e.typ
		}
	}
	return nil
}

// shown are the columns of SELECT * and of an INSERT that names none, in their order.
func (o *object) shown() []int {
	var list []int
	for i := range o.columns {
		if !o.columns[i].invisible {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(o.columns[a].order, o.columns[b].order) })
	return list
}

// columnID is COLUMN_ID; nil for an invisible column.
func (o *object) columnID(i int) any {
	if at := slices.Index(o.shown(), i); at >= 0 {
		return at + 1
	}
	return nil
}

// show makes a column visible or not. One that becomes visible again stands last.
func (o *object) show(i int, visible bool) {
	col := &o.columns[i]
	if col.invisible == !visible {
		return
	}
	col.invisible = !visible
	if visible {
		for k := range o.columns {
			col.order = max(col.order, o.columns[k].order+1)
		}
	}
}

// computed is a virtual column: it is computed when a row is written and kept with it.
type computed struct {
	at int
	x  expr
}

// virtuals compiles the virtual columns of a table.
func (c *compiler) virtuals(o *object, ref *tableRef) (list []computed, err error) {
	err = c.compileIn(o, ref, func() error {
		for i, col := range o.columns {
			if !col.virtual {
				continue
			}
			e, err := c.expr(col.byDefault)
			if err == nil {
				e, err = e.cast(col.typ, placeName(o.objectName, col.name), ref.at())
			}
			if err != nil {
				return err
			}
			list = append(list, computed{i, e})
		}
		return nil
	})
	return list, err
}

// compute sets the virtual columns of a row.
func (d *dml) compute(x *execution, vals []ora.Value) error {
	f := &frame{x: x, row: vals}
	for _, v := range d.virtual {
		value, err := v.x.eval(f)
		if err != nil {
			return err
		}
		vals[v.at] = value
	}
	return nil
}

// maySet refuses values for columns that make their own.
func (col *column) maySet(pos int, update bool) error {
	switch {
	case col.virtual && update:
		return errAt(pos, 54017, "UPDATE operation disallowed on virtual columns")
	case col.virtual:
		return errAt(pos, 54013, "INSERT operation disallowed on virtual columns")
	case col.identity == "ALWAYS" && update:
		return errAt(pos, 32796, "cannot update a generated always identity column")
	case col.identity == "ALWAYS":
		return errAt(pos, 32795, "cannot insert into a generated always identity column")
	}
	return nil
}

// number is the next value of an identity column.
func (col *column) number() expr {
	next := col.next
	return expr{typ: numberType(), eval: func(*frame) (ora.Value, error) { return ora.EncodeInt(next.Add(1) - 1), nil }}
}

// orDefault is what stands in a column whose default also replaces NULL.
func orDefault(given, byDefault expr) expr {
	return expr{typ: given.typ, nullable: byDefault.nullable, eval: func(f *frame) (ora.Value, error) {
		v, err := given.eval(f)
		if err != nil || len(v) > 0 {
			return v, err
		}
		return byDefault.eval(f)
	}}
}

// createType enters a type. A table may have columns of it, which nothing can be stored in.
func (s *Session) createType(c *catalog, t *createType) error {
	name, err := s.place(c, t.name, kindType)
	if err != nil {
		return err
	}
	if old := c.objects[name]; old != nil && (!t.replace || old.kind != kindType) {
		return errAt(t.name.at(), 955, "name is already used by an existing object")
	}
	o := &object{objectName: name, kind: kindType}
	for _, d := range t.attributes {
		if err := o.addColumn(c, d); err != nil {
			return err
		}
	}
	if t.collection {
		o.organization = "COLLECTION"
	}
	c.add(o, s.db.cfg.Now())
	return nil
}

// typeColumns are the columns of a table OF a type.
func (s *Session) typeColumns(c *catalog, q *qualified) ([]columnDef, error) {
	if q.name == "XMLTYPE" {
		return []columnDef{{loc: q.loc, name: "SYS_NC_ROWINFO$", typ: ora.Type{Code: ora.Object, Bytes: 2000}, typed: true,
			foreign: qualified{schema: "SYS", name: "XMLTYPE"}}}, nil
	}
	n := objectName{cmp.Or(q.schema, s.schema), q.name}
	t := c.objects[n]
	if t == nil || t.kind != kindType || len(t.columns) == 0 {
		return nil, errAt(q.at(), 902, "invalid datatype")
	}
	var defs []columnDef
	for _, col := range t.columns {
		defs = append(defs, columnDef{loc: q.loc, name: col.name, typ: col.typ, typed: true, foreign: col.foreign})
	}
	return defs, nil
}
