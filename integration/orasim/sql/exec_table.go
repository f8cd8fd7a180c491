package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// maxColumns is how many columns a table may have.
const maxColumns = 1000

func (s *Session) createTable(ctx context.Context, t *createTable) error {
	var plan *subplan
	var made *object
	err := s.db.change(func(c *catalog) error {
		name, err := s.place(c, t.name, kindTable)
		if err != nil {
			return err
		}
		if c.objects[name] != nil {
			return errAt(t.name.at(), 955, "name is already used by an existing object")
		}
		o := &object{objectName: name, kind: kindTable}
		if t.as != nil {
			comp := &compiler{db: s.db, cat: c, ses: s, user: s.user, schema: s.schema}
			if plan, err = comp.query(t.as); err != nil {
				return err
			}
		}
		if t.of != nil {
			if t.columns, err = s.typeColumns(c, t.of); err != nil {
				return err
			}
		}
		keys, err := o.defineColumns(c, t, plan)
		if err != nil {
			return err
		}
		if err := s.organize(c, o, t, keys); err != nil {
			return err
		}
		if t.generator != nil {
			return s.createGenerator(c, o, t, keys)
		}
		leaves := 0
		if t.partitions != nil {
			m := &partMaker{c: &compiler{db: s.db, cat: c, ses: s, user: s.user, schema: s.schema}, object: o}
			if o.parts, err = m.table(t.partitions); err != nil {
				return err
			}
			leaves, o.rowMovement = m.leaves, t.rowMovement
		}
		o.table = s.db.store.CreatePartitioned(store.Name{Owner: name.owner, Table: name.name}, describe(o.columns), leaves)
		c.add(o, s.db.cfg.Now())
		made = o
		if err := s.addKeys(c, o, keys); err != nil {
			return errors.Join(err, s.db.store.Drop(o.table))
		}
		return nil
	})
	if err != nil || plan == nil {
		return err
	}
	return s.fill(ctx, made, plan)
}

// organize settles what kind of table it is.
func (s *Session) organize(c *catalog, o *object, t *createTable, keys []constraintDef) error {
	o.organization, o.duration = t.organization, t.duration
	if t.of != nil {
		o.organization = "OBJECT"
		o.of = *t.of
		if o.of.name == "XMLTYPE" {
			o.of.schema = "SYS"
		}
	}
	primary := slices.ContainsFunc(keys, func(k constraintDef) bool { return k.typ == "P" })
	if o.organization == "INDEX" && !primary {
		return errAt(t.name.at(), 25175, "no PRIMARY KEY constraint found")
	}
	return s.settleVirtual(c, o)
}

// defineColumns makes the columns and NOT NULL constraints of a new table and returns its keys.
func (o *object) defineColumns(c *catalog, t *createTable, plan *subplan) ([]constraintDef, error) {
	defs := t.columns
	if plan != nil {
		var err error
		if defs, err = selectedColumns(t, plan); err != nil {
			return nil, err
		}
	}
	if len(defs) > maxColumns {
		return nil, errAt(t.name.at(), 1792, "maximum number of columns in a table or view is %d", maxColumns)
	}
	keys := t.constraints
	for _, d := range defs {
		if o.column(d.name) >= 0 {
			return nil, errAt(d.at(), 957, "duplicate column name")
		}
		if err := o.addColumn(c, d); err != nil {
			return nil, err
		}
		for _, k := range d.constraints {
			if k.typ != "C" {
				keys = append(keys, k)
			}
		}
	}
	return keys, nil
}

// selectedColumns are the columns of CREATE TABLE ... AS SELECT.
func selectedColumns(t *createTable, plan *subplan) ([]columnDef, error) {
	if len(t.columns) > 0 && len(t.columns) != len(plan.columns) {
		return nil, errAt(t.name.at(), 1730, "invalid number of column names specified")
	}
	var defs []columnDef
	for i, col := range plan.columns {
		d := columnDef{loc: t.as.loc, name: col.Name, typ: col.Type, typed: true}
		if len(t.columns) > 0 {
			if t.columns[i].typed {
				return nil, errAt(t.columns[i].at(), 1773, "may not specify column datatypes in this CREATE TABLE")
			}
			d = t.columns[i]
			d.typ, d.typed = col.Type, true
		}
		if d.typ.Bytes == 0 {
			return nil, errAt(d.at(), 1723, "zero-length columns are not allowed")
		}
		defs = append(defs, d)
	}
	return defs, nil
}

func notNullConstraint(c *catalog, d columnDef) constraint {
	k := constraint{typ: "C", columns: []string{d.name}, text: fmt.Sprintf("%q IS NOT NULL", d.name)}
	for _, given := range d.constraints {
		if given.typ == "C" {
			k.name, k.named = given.name, true
		}
	}
	if k.name == "" {
		k.name = c.systemName()
	}
	return k
}

// addKeys makes primary and unique keys with their indexes. o is not in use by anybody yet.
func (s *Session) addKeys(c *catalog, o *object, keys []constraintDef) error {
	for _, d := range keys {
		columns, err := o.positions(d.columns, d.at())
		if err != nil {
			return err
		}
		k := constraint{name: d.name, typ: d.typ, columns: d.columns, named: d.name != ""}
		if k.name == "" {
			k.name = c.systemName()
		}
		if d.typ == "P" {
			for _, old := range o.constraints {
				if old.typ == "P" {
					return errAt(d.at(), 2260, "table can have only one primary key")
				}
			}
			for _, at := range columns {
				o.columns[at].notNull = true
			}
		}
		index := objectName{o.owner, k.name}
		if c.objects[index] != nil {
			return errAt(d.at(), 955, "name is already used by an existing object")
		}
		if err := o.table.AddUnique(indexName(index), columns); err != nil {
			if d.typ == "P" {
				return ora.Errorf(2437, "cannot validate (%s) - primary key violated", indexName(index))
			}
			return err
		}
		c.add(&object{objectName: index, kind: kindIndex, target: o.objectName, keys: d.columns, unique: true}, s.db.cfg.Now())
		o.constraints = append(o.constraints, k)
	}
	return nil
}

// fill inserts the rows of CREATE TABLE ... AS SELECT.
func (s *Session) fill(ctx context.Context, o *object, plan *subplan) error {
	st := &Statement{ses: s, parsed: &statement{}}
	x := st.execution(ctx, nil)
	in, err := plan.open(x, nil, true)
	if err != nil {
		return err
	}
	d := &dml{object: o}
	for i, col := range o.columns {
		e, err := slotExpr(i, col.typ, true).cast(col.typ, placeName(o.objectName, col.name), 0)
		if err != nil {
			return err
		}
		d.values = append(d.values, e)
	}
	tx := s.db.store.Begin(s.done)
	tx.Savepoint()
	f := frame{x: x}
	for {
		row, err := in.next()
		if errors.Is(err, io.EOF) {
			tx.Commit()
			return nil
		}
		if err == nil {
			f.row = row
			err = d.insertRow(&f, tx)
		}
		if err != nil {
			tx.Rollback()
			return errors.Join(err, s.db.change(func(c *catalog) error { return s.remove(c, c.objects[o.objectName]) }))
		}
	}
}

// alterTable adds and modifies columns and adds keys.
func (s *Session) alterTable(c *catalog, a *alterTable) error {
	old, err := s.existing(c, a.name, "ALTER ANY TABLE")
	if err != nil {
		return err
	}
	if old.kind != kindTable {
		return errAt(a.name.at(), 942, "table or view does not exist")
	}
	if err := old.notGenerated(); err != nil {
		return err
	}
	o := *old
	o.columns = append([]column(nil), old.columns...)
	o.constraints = append([]constraint(nil), old.constraints...)
	o.changed = s.db.cfg.Now()
	keys := a.keys
	for _, d := range a.add {
		if err := s.addTableColumn(c, &o, d); err != nil {
			return err
		}
		for _, k := range d.constraints {
			if k.typ != "C" {
				keys = append(keys, k)
			}
		}
	}
	for _, d := range a.modify {
		if err := s.modifyColumn(c, &o, d); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if err := s.noNulls(&o, k); err != nil {
			return err
		}
	}
	if err := s.addKeys(c, &o, keys); err != nil {
		return err
	}
	c.objects[o.objectName] = &o
	return nil
}

// addTableColumn adds a column to a table that may have rows: they read the default in it.
func (s *Session) addTableColumn(c *catalog, o *object, d columnDef) error {
	if o.column(d.name) >= 0 {
		return errAt(d.at(), 1430, "column being added already exists in table")
	}
	var fill ora.Value
	if d.byDefault != nil && !d.virtual {
		comp := &compiler{db: s.db, cat: c, ses: s, user: s.user, schema: s.schema}
		e, err := comp.expr(d.byDefault)
		if err == nil {
			e, err = e.cast(d.typ, placeName(o.objectName, d.name), d.at())
		}
		if err != nil {
			return err
		}
		st := &Statement{ses: s}
		if fill, err = e.eval(&frame{x: st.execution(context.Background(), nil)}); err != nil {
			return err
		}
	}
	if d.null != nil && !*d.null && len(fill) == 0 && s.hasRows(o) {
		return errAt(d.at(), 1758, "table must be empty to add mandatory (NOT NULL) column")
	}
	if (d.virtual || d.identity != "") && s.hasRows(o) {
		return errAt(d.at(), 3001, "unimplemented feature: ADD of a virtual or identity column to a table with rows")
	}
	if err := o.addColumn(c, d); err != nil {
		return err
	}
	if err := s.settleVirtual(c, o); err != nil {
		return err
	}
	return s.db.store.AddColumn(o.table, describe(o.columns)[len(o.columns)-1], fill)
}

// each calls fn for every committed row of a table until it returns false.
func (s *Session) each(o *object, fn func(vals []ora.Value) bool) {
	cur := o.table.Scan(store.View{SCN: s.db.store.SCN()})
	for {
		_, vals, err := cur.Next()
		if err != nil || !fn(vals) {
			return
		}
	}
}

func (s *Session) hasRows(o *object) bool {
	found := false
	s.each(o, func([]ora.Value) bool { found = true; return false })
	return found
}

func (s *Session) hasNull(o *object, at int) bool {
	found := false
	s.each(o, func(vals []ora.Value) bool { found = len(vals[at]) == 0; return !found })
	return found
}

// noNulls refuses a primary key over columns that have NULLs.
func (s *Session) noNulls(o *object, k constraintDef) error {
	if k.typ != "P" {
		return nil
	}
	columns, err := o.positions(k.columns, k.at())
	if err != nil {
		return err
	}
	for _, at := range columns {
		if s.hasNull(o, at) {
			return ora.Errorf(1449, "column contains NULL values; cannot alter to NOT NULL")
		}
	}
	return nil
}

func (s *Session) modifyColumn(c *catalog, o *object, d columnDef) error {
	at := o.column(d.name)
	if at < 0 {
		return errAt(d.at(), 904, "%q: invalid identifier", d.name)
	}
	if d.visible != nil {
		o.show(at, *d.visible)
	}
	col := o.columns[at]
	if d.typed && d.typ != col.typ {
		if err := s.mayBecome(o, col.typ, d); err != nil {
			return err
		}
		col.typ = d.typ
	}
	if d.byDefault != nil {
		col.byDefault, col.defaultText = d.byDefault, d.defaultText
	}
	if d.null != nil {
		if !*d.null && s.hasNull(o, at) {
			return ora.Errorf(2296, "cannot enable (%s.) - null values found", o.owner)
		}
		if !*d.null && !col.notNull {
			o.constraints = append(o.constraints, notNullConstraint(c, d))
		}
		col.notNull = !*d.null
		if *d.null {
			o.dropNotNull(d.name)
		}
	}
	o.columns[at] = col
	return s.db.store.SetColumn(o.table, at, describe(o.columns)[at])
}

func (o *object) dropNotNull(name string) {
	var kept []constraint
	for _, k := range o.constraints {
		if k.typ != "C" || k.columns[0] != name {
			kept = append(kept, k)
		}
	}
	o.constraints = kept
}

// mayBecome says whether a column with values may change to a type: anything when the table is empty, else the
// same type with more room.
func (s *Session) mayBecome(o *object, from ora.Type, d columnDef) error {
	if !s.hasRows(o) {
		return nil
	}
	to := d.typ
	switch {
	case from.Code != to.Code || from.Form != to.Form:
		return errAt(d.at(), 1439, "column to be modified must be empty to change datatype")
	case from.Code == ora.Char:
		return errAt(d.at(), 3001, "unimplemented feature: MODIFY of a CHAR column with rows")
	case from.Code == ora.Number:
		if from.Scale == ora.ScaleFloating || to.Scale != ora.ScaleFloating && (to.Scale < from.Scale ||
			int(to.Precision)-int(to.Scale) < int(from.Precision)-int(from.Scale)) {
			return errAt(d.at(), 1440, "column to be modified must be empty to decrease precision or scale")
		}
	case to.Bytes < from.Bytes || to.CharUsed && to.Chars < from.Chars || to.Scale < from.Scale:
		return errAt(d.at(), 1441, "cannot decrease column length because some value is too big")
	}
	return nil
}
