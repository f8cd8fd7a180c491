package sql

import (
	"slices"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// maxViews is how deep views may be nested.
const maxViews = 30

// tableUnit compiles a table, view, dictionary view or WITH query in FROM.
func (c *compiler) tableUnit(ref *tableRef, outer *scope) (*unit, error) {
	if q := c.named[ref.name]; q != nil && ref.schema == "" {
		if ref.asOf != nil {
			return nil, errAt(ref.at(), 3001, "unimplemented feature: AS OF of a named query")
		}
		return newUnit(&planSource{q.plan}, ref, "", q.columns), nil
	}
	if o := c.lookup(ref.schema, ref.name); o != nil {
		return c.objectUnit(o, ref, outer)
	}
	v := c.dictionary(ref)
	if v == nil {
		return nil, errAt(ref.at(), 942, "table or view does not exist")
	}
	if ref.asOf != nil {
		return nil, errAt(ref.asOf.at(), 3001, "unimplemented feature: AS OF of a dictionary view")
	}
	return newUnit(&virtualSource{v}, ref, "SYS", v.columns), nil
}

func newUnit(src source, ref *tableRef, schema string, columns []ora.Column) *unit {
	t := &scopeTable{schema: schema, name: ref.name, columns: columns, rowid: -1}
	if ref.alias != "" {
		t.schema, t.name = "", ref.alias
	}
	return &unit{src, []*scopeTable{t}, t.width()}
}

// objectUnit compiles a table or view of the catalog.
func (c *compiler) objectUnit(o *object, ref *tableRef, outer *scope) (*unit, error) {
	if err := c.mayRead(o, ref); err != nil {
		return nil, err
	}
	if o.kind == kindView {
		if ref.sample != nil {
			return nil, errAt(ref.sample.at(), 3001, "unimplemented feature: SAMPLE of a view")
		}
		if ref.part != nil {
			return nil, errAt(ref.part.at(), 14109, "partition-extended object names may only be used with tables")
		}
		return c.viewUnit(o, ref)
	}
	src := &tableSource{table: o.table, columns: len(o.columns)}
	if ref.asOf != nil {
		x, err := c.asOf(ref.asOf, outer)
		if err != nil {
			return nil, err
		}
		src.asOf, src.timestamp = &x, ref.asOf.timestamp
	}
	if ref.part != nil {
		if o.parts == nil {
			return nil, errAt(ref.part.at(), 14501, "object is not partitioned")
		}
		var err error
		if src.only, err = o.parts.find(ref.part); err != nil {
			return nil, err
		}
	}
	u := newUnit(src, ref, o.owner, describe(o.columns))
	if ref.alias == "" {
		u.tables[0].name = ref.name
	}
	u.tables[0].shown = o.shown()
	src.withRowid = true
	if o.organization == "EXTERNAL" {
		u.src = externalSource{}
	}
	if o.made != nil {
		u.src = &generatedSource{tableSource: *src, made: o.made}
	}
	u.tables[0].rowid = len(o.columns)
	u.width = u.tables[0].width()
	if ref.sample != nil {
		return u, c.sampled(u, ref.sample)
	}
	return u, nil
}

func describe(columns []column) []ora.Column {
	list := make([]ora.Column, len(columns))
	for i, c := range columns {
		list[i] = ora.Column{Name: c.name, Type: c.typ, Nullable: !c.notNull}
		if c.typ.Code == ora.Number && c.typ.Precision == 0 && c.typ.Scale != ora.ScaleFloating {
			list[i].Type.Precision = 38 // NUMBER(*,s)
		}
	}
	return list
}

// mayRead checks SELECT, and FLASHBACK for AS OF.
func (c *compiler) mayRead(o *object, ref *tableRef) error {
	if !c.cat.mayUse(c.user, "SELECT", o.objectName) {
		if c.cat.sees(c.user, o.objectName) {
			return errAt(ref.at(), 1031, "insufficient privileges")
		}
		return errAt(ref.at(), 942, "table or view does not exist")
	}
	if ref.asOf != nil && !c.cat.mayUse(c.user, "FLASHBACK", o.objectName) {
		return errAt(ref.at(), 1031, "insufficient privileges")
	}
	return nil
}

// asOf compiles the SCN or time of a table; it sees binds and the queries around, but no table beside it.
func (c *compiler) asOf(a *asOf, outer *scope) (expr, error) {
	saved := c.scope
	c.scope = outer
	defer func() { c.scope = saved }()
	if a.timestamp {
		return c.exprAs(a.x, classTimestamp)
	}
	return c.exprAs(a.x, classNumber)
}

// viewUnit compiles the query of a view with the rights of its owner.
func (c *compiler) viewUnit(o *object, ref *tableRef) (*unit, error) {
	if ref.asOf != nil {
		return nil, errAt(ref.asOf.at(), 3001, "unimplemented feature: AS OF of a view")
	}
	if c.views >= maxViews {
		return nil, errAt(ref.at(), 1731, "circular view definition encountered")
	}
	inner := *c
	inner.user, inner.schema, inner.scope, inner.named, inner.binds = o.owner, o.owner, nil, nil, nil
	inner.views++
	plan, err := inner.query(o.query)
	if err != nil {
		return nil, errAt(ref.at(), 4063, "view %q.%q has errors: %v", o.owner, o.name, err)
	}
	columns := slices.Clone(plan.columns)
	for i := range o.names {
		columns[i].Name = o.names[i]
	}
	return newUnit(&planSource{plan}, ref, o.owner, columns), nil
}

// lookup finds a table or view by name, through synonyms: in the given or the current schema, then among the
// public synonyms.
func (c *compiler) lookup(schema, name string) *object {
	if schema == "" {
		if o := c.cat.follow(objectName{c.schema, name}); o != nil {
			return o
		}
		return c.cat.follow(objectName{public, name})
	}
	return c.cat.follow(objectName{schema, name})
}

// follow returns the table or view that a name stands for.
func (c *catalog) follow(n objectName) *object {
	for range 10 {
		o := c.objects[n]
		switch {
		case o == nil || o.kind == kindIndex || o.kind == kindType:
			return nil
		case o.kind != kindSynonym:
			return o
		}
		n = o.target
	}
	return nil
}

// dictionary finds a dictionary view that the user may see: V$ and DBA_ views need SELECT ANY DICTIONARY or a
// grant.
func (c *compiler) dictionary(ref *tableRef) *dictView {
	if ref.schema != "" && ref.schema != "SYS" && ref.schema != public {
		return nil
	}
	name := strings.Replace(ref.name, "V_$", "V$", 1)
	if s := c.cat.objects[objectName{c.schema, ref.name}]; s != nil && s.kind == kindSynonym && s.target.owner == "SYS" {
		name = strings.Replace(s.target.name, "V_$", "V$", 1)
	}
	v := c.db.dictionary[name]
	if v == nil || v.restricted && !c.cat.hasPrivilege(c.user, "SELECT ANY DICTIONARY") &&
		!c.cat.mayUse(c.user, "SELECT", objectName{"SYS", dictionaryObject(name)}) {
		return nil
	}
	return v
}

// dictionaryObject is the name under which privileges on a dictionary view are granted: V_$X for V$X.
func dictionaryObject(name string) string {
	if rest, ok := strings.CutPrefix(name, "V$"); ok {
		return "V_$" + rest
	}
	return name
}
