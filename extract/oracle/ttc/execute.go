package ttc

import (
	"context"
	"fmt"

	"github.com/loadctl/loadctl/extract"
)

// Functions and options of executing.
const (
	fnExecute      = 0x5E // OALL8
	fnFetch        = 0x05
	fnCloseCursors = 0x69

	optParse    = 0x1
	optBind     = 0x8
	optExecute  = 0x20
	optPLSQL    = 0x400
	optNotPLSQL = 0x8000
)

// statement is what to execute. Its arguments are texts, bound by position.
type statement struct {
	text  string
	args  []string
	query bool
	block bool // PL/SQL
	fetch int  // rows in the first reply, for a query
}

func (x statement) options() uint64 {
	options := uint64(optParse | optExecute)
	if !x.block {
		options |= optNotPLSQL
	}
	if len(x.args) > 0 {
		options |= optBind
		if x.block {
			options |= optPLSQL
		}
	}
	return options
}

// execute sends a statement, and the cursors that the server may forget.
func (s *Session) execute(x statement) error {
	o := &s.out
	o.reset()
	s.forgetCursors()
	o.function(fnExecute)
	o.uint(x.options())
	o.raw(0, 1) // a new cursor, a text
	o.uint(uint64(len(x.text)))
	o.raw(1)
	o.uint(parameters)
	o.raw(0, 0)
	o.uint(0) // memory to prefetch: by rows alone
	o.uint(uint64(x.fetch))
	o.uint(longest)
	o.bindCount(len(x.args))
	o.zeros(5)
	o.raw(0, 0)                   // no defines
	o.raw(0, 0, 1, 0, 0, 0, 0, 0) // registration
	o.raw(0, 0, 0)                // no counts of each iteration
	if s.fieldVersion >= 8 {
		o.zeros(5) // SQL signature and id
	}
	if s.fieldVersion >= 9 {
		o.zeros(2) // ids of chunks
	}
	o.clr(x.text)
	for _, v := range x.parameters() {
		o.uint(v)
	}
	s.binds(x.args)
	return s.send()
}

const (
	parameters = 13         // integers after the text
	longest    = 0x7FFFFFFF // bytes of a LONG
)

func (x statement) parameters() [parameters]uint64 {
	const parse, iterations, isQuery, flags, implicitResults = 0, 1, 7, 9, 0x8000
	p := [parameters]uint64{parse: 1, flags: implicitResults}
	if x.query {
		p[isQuery] = 1
	} else {
		p[iterations] = 1
	}
	return p
}

func (s *Session) forgetCursors() {
	if len(s.stale) == 0 {
		return
	}
	s.out.raw(msgPiggyback, fnCloseCursors, 0, 1)
	s.out.uint(uint64(len(s.stale)))
	for _, id := range s.stale {
		s.out.uint(uint64(id))
	}
	s.stale = s.stale[:0]
}

func (o *output) bindCount(n int) {
	if n == 0 {
		o.raw(0, 0)
		return
	}
	o.raw(1)
	o.uint(uint64(n))
}

const (
	typeVarchar2 = 1

	bindIndicators = 0x3  // indicators and lengths
	bindWhole      = 0x10 // continuation flags of a bind that comes in one piece
)

// binds describes the arguments and sends them as one row.
func (s *Session) binds(args []string) {
	if len(args) == 0 {
		return
	}
	o := &s.out
	for _, a := range args {
		o.raw(typeVarchar2, bindIndicators, 0, 0)
		o.uint(uint64(max(len(a), 1)))
		o.uint(0) // no array
		o.uint(bindWhole)
		o.raw(0, 0) // no object type
		o.uint(charsetAL32UTF8)
		o.raw(1) // in the database's character set
		o.uint(0)
		if s.fieldVersion >= 8 {
			o.uint(0) // collation
		}
	}
	o.raw(msgRow)
	for _, a := range args {
		o.clr(a)
	}
}

// Exec runs a statement that returns no rows. A block is PL/SQL.
func (s *Session) Exec(ctx context.Context, text string, block bool, args ...string) error {
	return s.call(ctx, func() error {
		if err := s.execute(statement{text: text, args: args, block: block}); err != nil {
			return err
		}
		for {
			m := s.in.message()
			if m == msgEnd {
				end, ok := s.end()
				if ok {
					s.stale = appendCursor(s.stale, end.cursor)
					return end.fault()
				}
				continue
			}
			if err := s.other(m); err != nil {
				return err
			}
		}
	})
}

func appendCursor(ids []int, id int) []int {
	if id == 0 {
		return ids
	}
	return append(ids, id)
}

// Texts runs a query whose columns are texts and returns every row, NULL as "".
func (s *Session) Texts(ctx context.Context, text string, args ...string) ([][]string, error) {
	const fetch = 100
	rows, err := s.query(ctx, statement{text: text, args: args, query: true, fetch: fetch})
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	cols := make([]extract.Column, len(rows.columns))
	for i, c := range rows.columns {
		cols[i] = extract.Column{Name: c.Name, Declared: "VARCHAR2", Type: extract.Type{Kind: extract.Text}}
	}
	if err := rows.decodeAs(cols); err != nil {
		return nil, err
	}
	return rows.texts(ctx, extract.NewBatch(cols, fetch, 0))
}

// Query is a statement to read rows by.
type Query struct {
	Text    string
	Columns []extract.Column // what the columns of the result are decoded as
	Fetch   int              // rows of one reply
}

// Query executes a query up to the description of its columns. A column that cannot be decoded is an UnsupportedError,
// and the session is in step, or broken.
func (s *Session) Query(ctx context.Context, q Query) (*Rows, error) {
	if q.Fetch < 1 {
		return nil, fmt.Errorf("query: a fetch of %d rows", q.Fetch)
	}
	rows, err := s.query(ctx, statement{text: q.Text, query: true, fetch: q.Fetch})
	if err != nil {
		return nil, err
	}
	if err := rows.decodeAs(q.Columns); err != nil {
		rows.Close()
		return nil, err
	}
	return rows, nil
}
