package wire

import (
	"context"
	"errors"
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
		return c.describe(cols)
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

// oall8 serves OALL8.
func (s *session) oall8(ctx context.Context) error {
	r := s.dec.execute(s.cursors.layout)
	if s.dec.err != nil {
		return s.dec.err
	}
	c, err := s.cursors.find(r.Cursor)
	if err != nil {
		return s.fail(ctx, err, outcome{})
	}
	text := c.sql
	if r.has(optParse) {
		text = r.SQL
	}
	if err := s.enter(text, r.has(optExecute)); err != nil {
		return s.fail(ctx, err, outcome{cursor: c.id})
	}
	if r.has(optParse) {
		if err := s.parse(c, r.SQL); err != nil {
			return s.fail(ctx, err, outcome{cursor: c.id})
		}
	}
	if c.stmt == nil {
		return s.fail(ctx, ora.Errorf(1003, "no statement parsed"), outcome{cursor: c.id})
	}
	c.take(&r)
	return s.executed(ctx, c, &r)
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

func (s *session) executed(ctx context.Context, c *cursor, r *executeRequest) error {
	var done execution
	if r.has(optExecute) {
		var err error
		w := work{r.Binds, r.Rows, r.has(optCommit), r.has(optBatchErrors)}
		if done, err = s.run(ctx, c, w); err != nil {
			return s.fail(ctx, err, outcome{cursor: c.id, rows: done.rows, kind: c.stmt.Kind()})
		}
	}
	if err := c.settle(r.has(optParse)); err != nil {
		c.drop()
		return s.fail(ctx, err, outcome{cursor: c.id})
	}
	if c.stmt.Kind() != ora.KindSelect {
		return s.affected(ctx, c, done, r.i4(i4Flags)&i4FlagRowCounts != 0)
	}
	if r.has(optParse) {
		s.describe(c.columns)
	}
	n := r.fetchSize()
	if c.needsDefine() || !r.has(optExecute|optFetch) {
		n = 0
	}
	return s.result(ctx, c, n, headerExecute, true)
}

// work is what an execute has to do.
type work struct {
	layout  []oac
	rows    [][]ora.Value // one per iteration
	commit  bool
	lenient bool // collect errors instead of stopping at the first
}

// execution is what an execute did.
type execution struct {
	rows    int64
	counts  []int64 // rows of each iteration
	errors  []batchError
	outputs []ora.Output
}

// batchError is the error of one iteration of an array DML.
type batchError struct {
	iteration int
	err       *ora.Error
}

// failed takes note of an iteration's error; false when the whole statement must stop for it.
func (e *execution) failed(ctx context.Context, w work, err error) bool {
	var oracle *ora.Error
	if !w.lenient || ctx.Err() != nil || !errors.As(err, &oracle) {
		return false
	}
	e.errors = append(e.errors, batchError{len(e.counts), oracle})
	e.counts = append(e.counts, 0)
	return true
}

// run executes a cursor's statement once for every bind row. Iterations before one that fails stand, as in
// Oracle.
func (s *session) run(ctx context.Context, c *cursor, w work) (execution, error) {
	var done execution
	c.drop()
	if err := s.strike(ctx, 0, false); err != nil {
		return done, err
	}
	if err := checkBinds(w.layout); err != nil {
		return done, err
	}
	if len(w.rows) == 0 {
		w.rows = [][]ora.Value{nil}
	}
	for _, row := range w.rows {
		if err := context.Cause(ctx); err != nil {
			return done, err
		}
		if err := s.lobs.content(w.layout, row); err != nil {
			return done, err
		}
		source, n, err := c.stmt.Execute(ctx, bindsOf(w.layout, row))
		if err != nil && done.failed(ctx, w, err) {
			continue
		}
		if err != nil {
			return done, err
		}
		if with, ok := c.stmt.(ora.OutputStatement); ok {
			done.outputs = with.Outputs()
		}
		done.rows += n
		done.counts = append(done.counts, n)
		c.source, c.fetched = source, 0
	}
	if c.stmt.Kind() == ora.KindSelect {
		return done, nil
	}
	if w.commit {
		if err := s.sess.Commit(); err != nil {
			return done, err
		}
	}
	return done, s.strike(ctx, 0, true)
}

func checkBinds(layout []oac) error {
	for i, o := range layout {
		if !o.supported() {
			return ora.Errorf(3115, "unsupported network datatype or representation (bind %d)", i+1)
		}
	}
	return nil
}

func bindsOf(layout []oac, row []ora.Value) []ora.Bind {
	binds := make([]ora.Bind, 0, len(row))
	for i, v := range row {
		binds = append(binds, ora.Bind{Type: layout[i].Type, Value: v})
	}
	return binds
}

// affected replies to a statement without rows.
func (s *session) affected(ctx context.Context, c *cursor, done execution, counts bool) error {
	if err := s.outputs(c.binds, done.outputs); err != nil {
		return s.fail(ctx, err, outcome{cursor: c.id})
	}
	s.returnParameters(c.id)
	if counts {
		s.rowCounts(done.counts)
	}
	o := outcome{cursor: c.id, rows: done.rows, kind: c.stmt.Kind(), batch: done.errors}
	if len(done.errors) > 0 {
		o.err = ora.Errorf(24381, "error(s) in array DML")
	}
	s.endOfCall(o)
	return s.flush()
}

// result replies with up to n rows of the open result; parameters says whether an RPA belongs to the reply.
func (s *session) result(ctx context.Context, c *cursor, n int64, header byte, parameters bool) error {
	o := outcome{cursor: c.id, kind: ora.KindSelect}
	if n > 0 {
		if c.source == nil {
			return s.fail(ctx, ora.Errorf(1002, "fetch out of sequence"), o)
		}
		err := s.rows(ctx, c, n, header)
		o.rows = c.fetched
		switch {
		case drained(err):
			c.drop()
			o.err = ora.Errorf(1403, "no data found")
		case err != nil:
			c.drop()
			return s.fail(ctx, err, o)
		}
	}
	if parameters {
		s.returnParameters(c.id)
	}
	s.endOfCall(o)
	return s.flush()
}

// fetch serves OFETCH.
func (s *session) fetch(ctx context.Context) error {
	id, n := s.dec.u32(), s.dec.u32()
	if s.dec.err != nil {
		return s.dec.err
	}
	c := s.cursors.byID[id]
	if c == nil {
		return s.fail(ctx, ora.Errorf(1001, "invalid cursor"), outcome{})
	}
	if err := s.enter(c.sql, false); err != nil {
		return s.fail(ctx, err, outcome{cursor: c.id})
	}
	return s.result(ctx, c, max(1, int64(n)), headerFetch, false)
}

// reexecute serves both ways of executing a cursor again without its text.
func (s *session) reexecute(ctx context.Context, fetch bool) error {
	r := s.dec.reexecute(fetch, s.cursors.layout)
	if s.dec.err != nil {
		return s.dec.err
	}
	c := s.cursors.byID[r.Cursor]
	if c == nil || c.stmt == nil {
		return s.fail(ctx, ora.Errorf(1001, "invalid cursor"), outcome{})
	}
	if err := s.enter(c.sql, true); err != nil {
		return s.fail(ctx, err, outcome{cursor: c.id})
	}
	c.plain = r.Options1&optNoCompress != 0
	done, err := s.run(ctx, c, work{r.Binds, r.Rows, r.Options2&reexecuteCommit != 0, false})
	o := outcome{cursor: c.id, rows: done.rows, kind: c.stmt.Kind()}
	if err == nil {
		err = c.settle(false)
	}
	if err != nil {
		c.drop()
		return s.fail(ctx, err, o)
	}
	if c.stmt.Kind() == ora.KindSelect {
		n := int64(0)
		if fetch {
			n = int64(r.Count)
		}
		return s.result(ctx, c, n, headerExecute, false)
	}
	s.endOfCall(o)
	return s.flush()
}
