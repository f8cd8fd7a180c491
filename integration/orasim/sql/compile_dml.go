package sql

import (
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// dml is a compiled INSERT, UPDATE, DELETE or the locking half of SELECT ... FOR UPDATE.
type dml struct {
	object *object
	where  []condition // UPDATE, DELETE, FOR UPDATE
	bounds []bound     // what they say about single columns
	wait   *expr       // FOR UPDATE: seconds; nil: for ever

	virtual []computed // INSERT, UPDATE

	query  *subplan // INSERT ... SELECT
	values []expr   // INSERT: one for each column of the table; UPDATE: one for each of set
	set    []int    // UPDATE: which columns
	remove bool     // DELETE
	lock   bool     // FOR UPDATE
}

// target resolves the table of a DML statement and checks a privilege on it.
func (c *compiler) target(ref *tableRef, privilege string) (*object, error) {
	o := c.lookup(ref.schema, ref.name)
	switch {
	case o == nil || !c.cat.sees(c.user, o.objectName):
		if c.dictionary(ref) != nil {
			return nil, errAt(ref.at(), 1031, "insufficient privileges")
		}
		return nil, errAt(ref.at(), 942, "table or view does not exist")
	case !c.cat.mayUse(c.user, privilege, o.objectName):
		return nil, errAt(ref.at(), 1031, "insufficient privileges")
	case o.kind == kindView:
		return nil, errAt(ref.at(), 3001, "unimplemented feature: DML on a view")
	}
	if o.organization == "TEMPORARY" && privilege != "SELECT" {
		return nil, errAt(ref.at(), 3001, "unimplemented feature: DML on a global temporary table")
	}
	return o, o.notGenerated()
}

func (o *object) column(name string) int {
	return slices.IndexFunc(o.columns, func(c column) bool { return c.name == name })
}

// rowScope is the scope of one table's row, as the store keeps it.
func rowScope(o *object, ref *tableRef) *scope {
	t := &scopeTable{schema: o.owner, name: ref.name, columns: describe(o.columns), rowid: len(o.columns)}
	if ref.alias != "" {
		t.schema, t.name = "", ref.alias
	}
	return &scope{tables: []*scopeTable{t}, pseudo: true}
}

func (c *compiler) insert(s *insertStmt) (*dml, error) {
	o, err := c.target(s.target, "INSERT")
	if err != nil {
		return nil, err
	}
	into, err := insertColumns(o, s)
	if err != nil {
		return nil, err
	}
	d := &dml{object: o}
	if d.virtual, err = c.virtuals(o, s.target); err != nil {
		return nil, err
	}
	given := make([]*expr, len(o.columns))
	if s.sel != nil {
		if d.query, err = c.query(s.sel); err != nil {
			return nil, err
		}
		if err := sameLength(len(into), len(d.query.columns), s.target.at()); err != nil {
			return nil, err
		}
		for i, at := range into {
			if err := o.columns[at].maySet(s.target.at(), false); err != nil {
				return nil, err
			}
			e := slotExpr(i, d.query.columns[i].Type, true)
			given[at] = &e
		}
	} else {
		if err := sameLength(len(into), len(s.values), s.target.at()); err != nil {
			return nil, err
		}
		for i, at := range into {
			if s.values[i] == nil {
				continue
			}
			if err := o.columns[at].maySet(s.values[i].at(), false); err != nil {
				return nil, err
			}
			e, err := c.expr(s.values[i])
			if err != nil {
				return nil, err
			}
			given[at] = &e
		}
	}
	d.values, err = c.columnValues(o, given, s.target.at())
	return d, err
}

func sameLength(columns, values, pos int) error {
	switch {
	case columns > values:
		return errAt(pos, 947, "not enough values")
	case columns < values:
		return errAt(pos, 913, "too many values")
	}
	return nil
}

// insertColumns is the positions of the columns that an INSERT names, or all.
func insertColumns(o *object, s *insertStmt) ([]int, error) {
	var into []int
	if len(s.columns) == 0 {
		return o.shown(), nil
	}
	for i, name := range s.columns {
		at := o.column(name)
		if at < 0 {
			return nil, errAt(s.at[i], 904, "%q: invalid identifier", name)
		}
		if slices.Contains(into, at) {
			return nil, errAt(s.at[i], 957, "duplicate column name")
		}
		into = append(into, at)
	}
	return into, nil
}

// columnValues completes the given values by defaults and makes each fit its column.
func (c *compiler) columnValues(o *object, given []*expr, pos int) ([]expr, error) {
	values := make([]expr, len(o.columns))
	for i, col := range o.columns {
		e, err := c.columnDefault(&col)
		if err != nil {
			return nil, err
		}
		switch {
		case given[i] != nil && col.onNull:
			if e, err = e.cast(col.typ, placeName(o.objectName, col.name), pos); err != nil {
				return nil, err
			}
			fit, err := given[i].cast(col.typ, placeName(o.objectName, col.name), pos)
			if err != nil {
				return nil, err
			}
			e = orDefault(fit, e)
		case given[i] != nil:
			e = *given[i]
		}
		fit, err := e.cast(col.typ, placeName(o.objectName, col.name), pos)
		if err != nil {
			return nil, err
		}
		values[i] = fit
	}
	return values, nil
}

// columnDefault is what a column gets that is not given a value.
func (c *compiler) columnDefault(col *column) (expr, error) {
	switch {
	case col.identity != "":
		return col.number(), nil
	case col.byDefault != nil && !col.virtual:
		return c.expr(col.byDefault)
	}
	return constantExpr(textType(0), nil), nil
}

// compileIn compiles conditions and values in the scope of the target's row.
func (c *compiler) compileIn(o *object, ref *tableRef, fn func() error) error {
	c.scope = rowScope(o, ref)
	defer func() { c.scope = nil }()
	return fn()
}

// whereOf compiles the conditions of UPDATE, DELETE or FOR UPDATE in the scope of the target's row.
func (c *compiler) whereOf(d *dml, n node) error {
	for _, term := range conjuncts(n) {
		if usesRownum(term) {
			return errAt(term.at(), 3001, "unimplemented feature: ROWNUM in DML")
		}
		x, err := c.cond(term)
		if err != nil {
			return err
		}
		d.where = append(d.where, x)
		d.bounds = append(d.bounds, c.bounds(term, c.scope.tables[0])...)
	}
	return nil
}

func (c *compiler) update(s *updateStmt) (*dml, error) {
	o, err := c.target(s.target, "UPDATE")
	if err != nil {
		return nil, err
	}
	d := &dml{object: o}
	if d.virtual, err = c.virtuals(o, s.target); err != nil {
		return nil, err
	}
	err = c.compileIn(o, s.target, func() error {
		if err := c.whereOf(d, s.where); err != nil {
			return err
		}
		for _, a := range s.sets {
			if err := c.assign(d, a); err != nil {
				return err
			}
		}
		return nil
	})
	return d, err
}

func (c *compiler) assign(d *dml, a assignment) error {
	at := d.object.column(a.column)
	if at < 0 {
		return errAt(a.at(), 904, "%q: invalid identifier", a.column)
	}
	if err := d.object.columns[at].maySet(a.at(), true); err != nil {
		return err
	}
	if slices.Contains(d.set, at) {
		return errAt(a.at(), 957, "duplicate column name")
	}
	x := a.x
	if x == nil {
		if x = d.object.columns[at].byDefault; x == nil {
			x = nullLiteral(a.at())
		}
	}
	e, err := c.expr(x)
	if err != nil {
		return err
	}
	col := d.object.columns[at]
	fit, err := e.cast(col.typ, placeName(d.object.objectName, col.name), a.at())
	if err != nil {
		return err
	}
	d.set, d.values = append(d.set, at), append(d.values, fit)
	return nil
}

func (c *compiler) delete(s *deleteStmt) (*dml, error) {
	o, err := c.target(s.target, "DELETE")
	if err != nil {
		return nil, err
	}
	d := &dml{object: o, remove: true}
	err = c.compileIn(o, s.target, func() error { return c.whereOf(d, s.where) })
	return d, err
}

// forUpdate compiles what SELECT ... FOR UPDATE locks: the rows of one table.
func (c *compiler) forUpdate(s *selectStmt) (*dml, error) {
	b, ok := s.body.(*queryBlock)
	if !ok || b.distinct || len(b.group) > 0 || len(b.from) != 1 || s.fetch != nil || s.offset != nil {
		return nil, errAt(s.at(), 2014, "cannot select FOR UPDATE from view with DISTINCT, GROUP BY, etc.")
	}
	ref, ok := b.from[0].(*tableRef)
	if !ok || ref.asOf != nil || len(s.with) > 0 {
		return nil, errAt(s.at(), 2014, "cannot select FOR UPDATE from view with DISTINCT, GROUP BY, etc.")
	}
	o, err := c.target(ref, "SELECT")
	if err != nil {
		return nil, err
	}
	d := &dml{object: o, lock: true}
	if s.locking.wait != nil {
		e, err := c.exprAs(s.locking.wait, classNumber)
		if err != nil {
			return nil, err
		}
		d.wait = &e
	}
	err = c.compileIn(o, ref, func() error { return c.whereOf(d, b.where) })
	return d, err
}

// null reports a NULL where none may be: ORA-01400 on INSERT, 01407 on UPDATE.
func nullError(o *object, at int, update bool) error {
	place := placeName(o.objectName, o.columns[at].name)
	if update {
		return ora.Errorf(1407, "cannot update (%s) to NULL", place)
	}
	return ora.Errorf(1400, "cannot insert NULL into (%s)", place)
}
