package wire

import (
	"context"
	"errors"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

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
		if err := s.iterate(ctx, c, w.layout, row, &done); err != nil && !done.failed(ctx, w, err) {
			return done, err
		}
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

// iterate executes a cursor's statement with one row of binds.
func (s *session) iterate(ctx context.Context, c *cursor, layout []oac, row []ora.Value, done *execution) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := s.lobs.content(layout, row); err != nil {
		return err
	}
	source, n, err := c.stmt.Execute(ctx, bindsOf(layout, row))
	if err != nil {
		return err
	}
	if with, ok := c.stmt.(ora.OutputStatement); ok {
		done.outputs = with.Outputs()
	}
	done.rows += n
	done.counts = append(done.counts, n)
	c.source, c.fetched = source, 0
	return nil
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
