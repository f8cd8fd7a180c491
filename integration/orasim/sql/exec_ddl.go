package sql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// ddl runs a statement that is neither query nor DML. Definition changes commit the transaction first; their
// own changes cannot be rolled back.
func (s *Session) ddl(ctx context.Context, st *Statement) error {
	switch body := st.parsed.body.(type) {
	case *commitStmt:
		return s.Commit()
	case *rollbackTo:
		return s.rollbackTo(body.savepoint)
	case *savepoint:
		s.savepoints = append(s.savepoints, mark{body.name, s.begin().Savepoint()})
		return nil
	case *alterSession:
		return s.alter(body)
	case *nothing:
		return nil
	}
	if len(st.parsed.binds) > 0 {
		return ora.Errorf(1027, "bind variables not allowed for data definition operations")
	}
	if err := s.Commit(); err != nil {
		return err
	}
	switch body := st.parsed.body.(type) {
	case *createTable:
		return s.createTable(ctx, body)
	case *truncateTable:
		return s.truncate(body)
	case *killSession:
		if !s.db.catalog().hasPrivilege(s.user, "ALTER SYSTEM") {
			return ora.Errorf(1031, "insufficient privileges")
		}
		return s.db.Kill(body.sid, body.serial)
	}
	return s.db.change(func(c *catalog) error { return s.define(c, st.parsed.body) })
}

// define makes the changes that need nothing but the catalog.
func (s *Session) define(c *catalog, body any) error {
	switch body := body.(type) {
	case *createView:
		return s.createView(c, body)
	case *createIndex:
		return s.createIndex(c, body)
	case *createType:
		return s.createType(c, body)
	case *createSynonym:
		return s.createSynonym(c, body)
	case *createUser:
		return s.createUser(c, body)
	case *grantStmt:
		return s.grant(c, body)
	case *dropObject:
		return s.drop(c, body)
	case *alterTable:
		return s.alterTable(c, body)
	case *alterPartition:
		return s.alterPartition(c, body)
	}
	return ora.Errorf(3001, "unimplemented feature: %T", body)
}

// mark is a savepoint of the user's.
type mark struct {
	name  string
	point int
}

func (s *Session) rollbackTo(name string) error {
	if name == "" {
		return s.Rollback()
	}
	for i := len(s.savepoints) - 1; i >= 0; i-- {
		if s.savepoints[i].name == name {
			s.tx.RollbackTo(s.savepoints[i].point)
			s.savepoints = s.savepoints[:i+1]
			return nil
		}
	}
	return ora.Errorf(1086, "savepoint '%s' never established in this session or is invalid", name)
}

// alter applies ALTER SESSION SET.
func (s *Session) alter(a *alterSession) error {
	for _, set := range a.sets {
		if err := s.setParameter(set); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) setParameter(set setting) error {
	switch set.name {
	case "CURRENT_SCHEMA":
		if _, ok := s.db.catalog().users[set.value]; !ok {
			return ora.Errorf(1435, "user does not exist")
		}
		s.schema = set.value
		return nil
	case "TIME_ZONE":
		return s.setZone(set.value)
	case "CONTAINER":
		if !strings.EqualFold(set.value, s.container) {
			return ora.Errorf(65011, "Pluggable database %s does not exist.", set.value)
		}
		return nil
	case "ISOLATION_LEVEL":
		return errAt(set.at(), 3001, "unimplemented feature: ISOLATION_LEVEL")
	case "STATISTICS_LEVEL", "OPTIMIZER_MODE", "SQL_TRACE", "TRACEFILE_IDENTIFIER", "CURSOR_SHARING", "EVENTS", "EDITION",
		"DDL_LOCK_TIMEOUT", "OPTIMIZER_FEATURES_ENABLE", "PARALLEL_DEGREE_POLICY":
		return nil // how, not what
	}
	if strings.HasPrefix(set.name, "_") {
		return nil
	}
	return s.nls.set(set)
}

func (s *Session) setZone(value string) error {
	switch strings.ToUpper(value) {
	case "LOCAL":
		s.zone = zone{minutes: s.db.cfg.Zone}
		return nil
	case "DBTIMEZONE":
		s.zone = zone{}
		return nil
	}
	z, err := parseZone(value)
	if err != nil {
		return err
	}
	s.zone = z
	return nil
}

// place is the full name of an object to create, when the user may create it.
func (s *Session) place(c *catalog, q qualified, kind objectKind) (objectName, error) {
	o := objectName{s.schema, q.name}
	if q.schema != "" {
		o.owner = q.schema
	}
	if _, ok := c.users[o.owner]; !ok && o.owner != public {
		return o, errAt(q.at(), 1918, "user '%s' does not exist", o.owner)
	}
	privilege := "CREATE ANY " + string(kind)
	if o.owner == s.user {
		privilege = "CREATE " + string(kind)
	}
	if kind == kindIndex && o.owner == s.user {
		return o, nil
	}
	if !c.hasPrivilege(s.user, privilege) && !c.hasPrivilege(s.user, "CREATE ANY "+string(kind)) {
		return o, ora.Errorf(1031, "insufficient privileges")
	}
	return o, nil
}

// existing finds a table or view to change or drop, when the user may.
func (s *Session) existing(c *catalog, q qualified, privilege string) (*object, error) {
	n := objectName{s.schema, q.name}
	if q.schema != "" {
		n.owner = q.schema
	}
	o := c.objects[n]
	if o == nil || !c.sees(s.user, n) && n.owner != s.user {
		return nil, errAt(q.at(), 942, "table or view does not exist")
	}
	if n.owner != s.user && !c.hasPrivilege(s.user, privilege) {
		return nil, ora.Errorf(1031, "insufficient privileges")
	}
	return o, nil
}

func (s *Session) truncate(t *truncateTable) error {
	o, err := s.existing(s.db.catalog(), t.name, "DROP ANY TABLE")
	if err != nil {
		return err
	}
	if o.kind != kindTable {
		return errAt(t.name.at(), 942, "table or view does not exist")
	}
	if err := o.notGenerated(); err != nil {
		return err
	}
	if err := s.db.store.Truncate(o.table); err != nil {
		return err
	}
	return s.db.change(func(c *catalog) error { return c.touch(o.objectName, s.db) })
}

// touch gives an object a new LAST_DDL_TIME.
func (c *catalog) touch(n objectName, d *Database) error {
	if o := c.objects[n]; o != nil {
		changed := *o
		changed.changed = d.cfg.Now()
		c.objects[n] = &changed
	}
	return nil
}

func (s *Session) createView(c *catalog, v *createView) error {
	name, err := s.place(c, v.name, kindView)
	if err != nil {
		return err
	}
	if old := c.objects[name]; old != nil && (!v.replace || old.kind != kindView) {
		return errAt(v.name.at(), 955, "name is already used by an existing object")
	}
	comp := &compiler{db: s.db, cat: c, ses: s, user: name.owner, schema: name.owner}
	plan, err := comp.query(v.sel)
	if err != nil {
		return err
	}
	if len(v.columns) > 0 && len(v.columns) != len(plan.columns) {
		return errAt(v.name.at(), 1730, "invalid number of column names specified")
	}
	o := &object{objectName: name, kind: kindView, query: v.sel, text: v.text, names: v.columns}
	for i, col := range plan.columns {
		if len(v.columns) > 0 {
			col.Name = v.columns[i]
		}
		o.columns = append(o.columns, column{name: col.Name, typ: col.Type, notNull: !col.Nullable})
	}
	c.add(o, s.db.cfg.Now())
	return nil
}

func (s *Session) createSynonym(c *catalog, v *createSynonym) error {
	q := v.name
	if v.public {
		q.schema = public
	}
	name, err := s.place(c, q, kindSynonym)
	if err != nil {
		return err
	}
	if old := c.objects[name]; old != nil && (!v.replace || old.kind != kindSynonym) {
		return errAt(v.name.at(), 955, "name is already used by an existing object")
	}
	target := objectName{s.schema, v.target.name}
	if v.target.schema != "" {
		target.owner = v.target.schema
	}
	c.add(&object{objectName: name, kind: kindSynonym, target: target}, s.db.cfg.Now())
	return nil
}

func (s *Session) createUser(c *catalog, u *createUser) error {
	if !c.hasPrivilege(s.user, map[bool]string{true: "ALTER USER", false: "CREATE USER"}[u.alter]) && !(u.alter && u.name == s.user) {
		return ora.Errorf(1031, "insufficient privileges")
	}
	old, exists := c.users[u.name]
	switch {
	case u.alter && !exists:
		return ora.Errorf(1918, "user '%s' does not exist", u.name)
	case !u.alter && (exists || u.name == public):
		return ora.Errorf(1920, "user name '%s' conflicts with another user or role name", u.name)
	case !u.alter:
		c.addUser(u.name, u.password, s.db.cfg.Now())
		old = c.users[u.name]
	}
	if u.password != "" {
		old.password = u.password
	}
	if u.lock != nil {
		old.locked, old.badLogins = *u.lock, 0
	}
	c.users[u.name] = old
	return nil
}

func (s *Session) drop(c *catalog, d *dropObject) error {
	if d.user {
		return s.dropUser(c, d.name.name)
	}
	o, err := s.existing(c, d.name, "DROP ANY "+string(d.kind))
	if err != nil || o.kind != d.kind {
		switch d.kind {
		case kindSynonym:
			return errAt(d.name.at(), 1434, "private synonym to be dropped does not exist")
		case kindIndex:
			return errAt(d.name.at(), 1418, "specified index does not exist")
		}
		if err != nil {
			return err
		}
		return errAt(d.name.at(), 942, "table or view does not exist")
	}
	if o.kind == kindIndex {
		return s.dropIndex(c, o)
	}
	return s.remove(c, o)
}

// remove takes an object out of the catalog, a table's indexes and data with it.
func (s *Session) remove(c *catalog, o *object) error {
	if o.kind == kindTable {
		if err := s.db.store.Drop(o.table); err != nil {
			return err
		}
		for n, x := range c.objects {
			if x.kind == kindIndex && x.target == o.objectName {
				delete(c.objects, n)
			}
		}
	}
	delete(c.objects, o.objectName)
	delete(c.grants, o.objectName)
	return nil
}

func (s *Session) dropIndex(c *catalog, x *object) error {
	t := c.objects[x.target]
	if slices.ContainsFunc(t.constraints, func(k constraint) bool { return k.name == x.name && k.typ != "C" }) {
		return ora.Errorf(2429, "cannot drop index used for enforcement of unique/primary key")
	}
	t.table.DropIndex(indexName(x.objectName))
	delete(c.objects, x.objectName)
	return nil
}

func (s *Session) dropUser(c *catalog, name string) error {
	if !c.hasPrivilege(s.user, "DROP USER") {
		return ora.Errorf(1031, "insufficient privileges")
	}
	if _, ok := c.users[name]; !ok {
		return ora.Errorf(1918, "user '%s' does not exist", name)
	}
	for _, open := range s.db.sessions.list() {
		if open.user == name {
			return ora.Errorf(1940, "cannot drop a user that is currently connected")
		}
	}
	for n, o := range c.objects {
		if n.owner == name {
			if err := s.remove(c, o); err != nil {
				return err
			}
		}
	}
	delete(c.users, name)
	delete(c.granted, name)
	return nil
}

func (s *Session) createIndex(c *catalog, x *createIndex) error {
	t, err := s.existing(c, x.table, "CREATE ANY INDEX")
	if err != nil {
		return err
	}
	if t.kind != kindTable {
		return errAt(x.table.at(), 942, "table or view does not exist")
	}
	name, err := s.place(c, x.name, kindIndex)
	if err != nil {
		return err
	}
	if c.objects[name] != nil {
		return errAt(x.name.at(), 955, "name is already used by an existing object")
	}
	columns, err := t.positions(x.columns, x.table.at())
	if err != nil {
		return err
	}
	if x.unique {
		if err := t.table.AddUnique(indexName(name), columns); err != nil {
			return ora.Errorf(1452, "cannot CREATE UNIQUE INDEX; duplicate keys found")
		}
	} else if err := t.table.AddIndex(indexName(name), columns); err != nil {
		return err
	}
	c.add(&object{objectName: name, kind: kindIndex, target: t.objectName, keys: x.columns, unique: x.unique}, s.db.cfg.Now())
	return nil
}

// indexName is how ORA-00001 calls a unique index.
func indexName(n objectName) string { return fmt.Sprintf("%s.%s", n.owner, n.name) }

// positions finds columns by name.
func (o *object) positions(names []string, pos int) ([]int, error) {
	var list []int
	for _, name := range names {
		at := o.column(name)
		if at < 0 {
			return nil, errAt(pos, 904, "%q: invalid identifier", name)
		}
		if slices.Contains(list, at) {
			return nil, errAt(pos, 957, "duplicate column name")
		}
		list = append(list, at)
	}
	return list, nil
}
