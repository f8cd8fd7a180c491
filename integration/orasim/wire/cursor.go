package wire

import (
	"slices"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// cursor is what a client keeps open: a statement, its last binds' layout, its defines, its open result.
type cursor struct {
	id      uint32
	sql     string
	stmt    ora.Statement // nil until parsed
	columns []column
	binds   []oac // kept: a client that executes again may send rows only
	defines []oac // kept until the next parse
	plain   bool  // the client wants no compressed rows
	source  ora.RowSource
	fetched int64
}

// drop ends the open result.
func (c *cursor) drop() {
	if c.source != nil {
		c.source.Close()
		c.source = nil
	}
}

// cursors are the open cursors of a session.
type cursors struct {
	byID  map[uint32]*cursor
	limit int
}

// open makes a cursor under the smallest free id: ids must stay below 65536 for clients that read two bytes.
func (cs *cursors) open() (*cursor, error) {
	if len(cs.byID) >= cs.limit {
		return nil, ora.Errorf(1000, "maximum open cursors exceeded")
	}
	id := uint32(1)
	for cs.byID[id] != nil {
		id++
	}
	c := &cursor{id: id}
	cs.byID[id] = c
	return c, nil
}

// find returns the cursor of an id; 0 opens one.
func (cs *cursors) find(id uint32) (*cursor, error) {
	if id == 0 {
		return cs.open()
	}
	if c := cs.byID[id]; c != nil {
		return c, nil
	}
	return nil, ora.Errorf(1001, "invalid cursor")
}

func (cs *cursors) close(id uint32) {
	if c := cs.byID[id]; c != nil {
		c.drop()
		delete(cs.byID, id)
	}
}

// cancel ends a cursor's result and keeps the statement.
func (cs *cursors) cancel(id uint32) {
	if c := cs.byID[id]; c != nil {
		c.drop()
	}
}

func (cs *cursors) closeAll() {
	for id := range cs.byID {
		cs.close(id)
	}
}

// layout returns the kept bind descriptions of a cursor.
func (cs *cursors) layout(id uint32) []oac {
	if c := cs.byID[id]; c != nil {
		return c.binds
	}
	return nil
}

// parse gives a cursor a new statement.
func (s *session) parse(c *cursor, sql string) error {
	c.drop()
	c.sql, c.stmt, c.columns, c.defines = sql, nil, nil, nil
	s.log.Debug("parse", "cursor", c.id, "sql", withoutPassword(sql))
	stmt, err := s.sess.Prepare(sql)
	if err != nil {
		return err
	}
	if err := c.describe(stmt.Columns()); err != nil {
		return err
	}
	c.stmt = stmt
	return nil
}

// describe takes over a statement's columns.
func (c *cursor) describe(cols []ora.Column) error {
	c.columns = make([]column, 0, len(cols))
	for _, col := range cols {
		if !representable(col.Type.Code) {
			return ora.Errorf(3115, "unsupported network datatype or representation (column %s)", col.Name)
		}
		c.columns = append(c.columns, column{Column: col, form: formOf(col.Type)})
	}
	return nil
}

// settle compares the columns after an execute with those that were found before it: a backend compiles a statement
// again when its tables or the types of its binds have changed. A client that is about to be told (described) gets the
// new ones. One that knows the old ones gets an error on which clients parse again.
func (c *cursor) settle(described bool) error {
	cols := c.stmt.Columns()
	same := func(a column, b ora.Column) bool { return a.Column == b }
	if slices.EqualFunc(c.columns, cols, same) {
		return nil
	}
	if described {
		err := c.describe(cols)
		c.define(c.defines)
		return err
	}
	if len(cols) != len(c.columns) {
		return ora.Errorf(1007, "variable not in select list")
	}
	for i, col := range cols {
		if col.Type.Code != c.columns[i].Type.Code || col.Type.Form != c.columns[i].Type.Form {
			return ora.Errorf(932, "inconsistent datatypes (column %s)", col.Name)
		}
		c.columns[i].Column = col
	}
	return nil
}

// withoutPassword is a statement as it may stand in a log.
func withoutPassword(sql string) string {
	if strings.Contains(strings.ToUpper(sql), "IDENTIFIED") {
		return "(withheld: it may hold a password)"
	}
	return sql
}

// representable says whether we can send values of a type.
func representable(code uint8) bool {
	switch code {
	case ora.Cursor, ora.Object, ora.Bfile, ora.JSON:
		return false
	}
	return true
}

// needsDefine says whether rows wait for the client to define its columns: a server never sends LONG or LOB
// values with the execute that parsed the statement.
func (c *cursor) needsDefine() bool {
	if len(c.defines) > 0 {
		return false
	}
	for _, col := range c.columns {
		if col.form == formLong || col.form == formLOB {
			return true
		}
	}
	return false
}

// take keeps what the request says about binds and defines. An empty list changes nothing.
func (c *cursor) take(r *executeRequest) {
	if len(r.Binds) > 0 || r.has(optParse) {
		c.binds = r.Binds
	}
	if len(r.Defines) > 0 && r.has(optDefine) {
		c.define(r.Defines)
	}
	c.plain = r.has(optNoCompress)
}

// define says in which forms the client wants its LOB columns.
func (c *cursor) define(defines []oac) {
	c.defines = defines
	for i := range c.columns[:min(len(c.columns), len(defines))] {
		if d, col := defines[i], &c.columns[i]; isLOB(col.Type.Code) {
			col.form, col.prefetch, col.charForm = formLOB, d.MaxChars, d.Type.Form
			switch {
			case d.long():
				col.form = formLong
			case d.Continuation&lobPrefetch != 0:
				col.form = formLOBPrefetch
			}
		}
	}
}
