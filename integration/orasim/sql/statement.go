package sql

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// Statement is a parsed statement of a session. It implements ora.Statement. It is compiled for the catalog of
// one moment and the types of its binds, and compiled again when either changes, so after an Execute Columns
// may differ from what Prepare found.
type Statement struct {
	ses    *Session
	text   string
	parsed *statement

	version uint64     // of the catalog that it was compiled for
	schema  string     // CURRENT_SCHEMA then
	types   []ora.Type // of the binds then
	plan    *subplan   // queries
	change  *dml       // INSERT, UPDATE, DELETE
	calls   []compiledCall
}

// Kind says what the statement is.
func (st *Statement) Kind() ora.Kind { return st.parsed.kind }

// Binds names the placeholders in order of appearance.
func (st *Statement) Binds() []string { return st.parsed.binds }

// Columns describes the select list.
func (st *Statement) Columns() []ora.Column {
	if st.plan == nil || st.parsed.kind != ora.KindSelect {
		return nil
	}
	return st.plan.columns
}

// compile resolves the statement; types is nil before the binds are known.
func (st *Statement) compile(types []ora.Type) error {
	cat := st.ses.db.catalog()
	c := &compiler{db: st.ses.db, cat: cat, ses: st.ses, user: st.ses.user, schema: st.ses.schema, binds: types}
	st.version, st.schema, st.types = cat.version, st.ses.schema, types
	var err error
	switch body := st.parsed.body.(type) {
	case *selectStmt:
		st.plan, err = c.query(body)
		if err == nil && body.locking != nil {
			st.change, err = c.forUpdate(body)
		}
	case *insertStmt:
		st.change, err = c.insert(body)
	case *updateStmt:
		st.change, err = c.update(body)
	case *deleteStmt:
		st.change, err = c.delete(body)
	case *block:
		st.calls, err = c.calls(body)
	}
	if err != nil {
		return asOra(err)
	}
	return nil
}

// fresh makes sure that the statement is compiled for today's catalog and the binds at hand. A DDL right after
// it is met by the store: a table that went away is ORA-08103.
func (st *Statement) fresh(binds []ora.Bind) error {
	types := bindTypes(binds)
	if st.version == st.ses.db.catalog().version && st.schema == st.ses.schema && slices.Equal(st.types, types) {
		return nil
	}
	return st.compile(types)
}

// Execute runs the statement. DDL commits the transaction before and after.
func (st *Statement) Execute(ctx context.Context, binds []ora.Bind) (cur ora.RowSource, n int64, err error) {
	defer catch(st.text, &err)
	select {
	case <-st.ses.done:
		return nil, 0, ora.Errorf(28, "your session has been killed")
	default:
	}
	if len(binds) < len(st.parsed.binds) {
		return nil, 0, ora.Errorf(1008, "not all variables bound")
	}
	st.ses.setActive(true)
	defer st.ses.setActive(false)
	x := st.execution(ctx, binds)
	if err := x.normalise(binds); err != nil {
		return nil, 0, asOra(err)
	}
	switch st.parsed.kind {
	case ora.KindSelect:
		cur, err = st.query(x, binds)
		if err != nil {
			return nil, 0, asOra(err)
		}
		return cur, 0, nil
	case ora.KindInsert, ora.KindUpdate, ora.KindDelete:
		n, err = st.dml(x, binds)
	case ora.KindPLSQL:
		err = st.block(x, binds)
	default:
		err = st.ses.ddl(ctx, st)
	}
	if err != nil {
		return nil, 0, asOra(err)
	}
	return nil, n, nil
}

// execution fixes what holds for the whole statement: the SCN, the clock, the session's settings.
func (st *Statement) execution(ctx context.Context, binds []ora.Bind) *execution {
	s := st.ses
	settings := s.nls
	x := &execution{ctx: ctx, ses: s, nls: &settings, zone: s.zone, now: s.db.wall(s.db.cfg.Now())}
	x.view = s.view()
	x.binds = make([]ora.Value, len(binds))
	for i := range binds {
		x.binds[i] = binds[i].Value
	}
	return x
}

// normalise brings the binds into the one encoding that each value has in the store, since values are compared
// by their bytes: clients may send a TIMESTAMP with a fraction of 0 in 11 bytes, for instance.
func (x *execution) normalise(binds []ora.Bind) error {
	for i, b := range binds {
		if len(b.Value) == 0 {
			continue
		}
		switch k := classOf(b.Type); k {
		case classNumber:
			n, err := ora.DecodeNumber(b.Value)
			if err != nil {
				return ora.Errorf(1722, "invalid number: bind %d: %v", i+1, err)
			}
			x.binds[i] = n.Encode()
		case classTZ:
			t, err := x.decodeTime(plainType(classTZ), b.Value)
			if err != nil {
				return ora.Errorf(1801, "date format is too long for internal buffer: bind %d: %v", i+1, err)
			}
			x.binds[i] = t.encodeTZ()
		case classDate, classTimestamp, classLTZ:
			t, err := ora.DecodeTime(b.Value)
			if err != nil {
				return ora.Errorf(1801, "date format is too long for internal buffer: bind %d: %v", i+1, err)
			}
			if x.binds[i] = t.EncodeTimestamp(); k == classDate {
				x.binds[i] = t.EncodeDate()
			}
		}
	}
	return nil
}

// view is what a statement that starts now may see.
func (s *Session) view() store.View {
	scn := s.db.store.SCN()
	if s.tx == nil {
		return store.View{SCN: scn}
	}
	return s.tx.View(scn)
}

func bindTypes(binds []ora.Bind) []ora.Type {
	if len(binds) == 0 {
		return nil
	}
	types := make([]ora.Type, len(binds))
	for i := range binds {
		types[i] = binds[i].Type
	}
	return types
}

func (st *Statement) query(x *execution, binds []ora.Bind) (ora.RowSource, error) {
	if body := st.parsed.body.(*selectStmt); body.locking != nil {
		if err := st.lockRows(x, binds); err != nil {
			return nil, err
		}
	}
	if err := st.fresh(binds); err != nil {
		return nil, err
	}
	r, err := st.plan.open(x, nil, true)
	if err != nil {
		return nil, err
	}
	c := cursor{text: st.text, x: x, rows: r}
	if packed, ok := r.(*packedRows); ok {
		return &packedCursor{c, packed}, nil
	}
	return &c, nil
}

// cursor is an open query. It implements ora.RowSource.
type cursor struct {
	text string
	x    *execution
	rows rows
	err  error // io.EOF or what ended it
}

// Next returns the next row, valid until the following call.
func (c *cursor) Next(ctx context.Context) (row []ora.Value, err error) {
	if c.err != nil {
		return nil, c.err
	}
	defer catch(c.text, &err)
	c.x.ctx = ctx
	row, err = c.rows.next()
	if err != nil && !errors.Is(err, io.EOF) {
		err = asOra(err)
	}
	c.err = err
	return row, err
}

// Close ends the query; Next then returns ORA-01001.
func (c *cursor) Close() {
	c.err = ora.Errorf(1001, "invalid cursor")
	c.rows = nil
}

// drain reads a query to its end as text.
func drain(ctx context.Context, st ora.Statement, cur ora.RowSource) ([][]string, error) {
	defer cur.Close()
	columns := st.Columns()
	var list [][]string
	for {
		row, err := cur.Next(ctx)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		text := make([]string, len(columns))
		for i, c := range columns {
			text[i] = ora.Text(c.Type, row[i])
		}
		list = append(list, text)
	}
}
