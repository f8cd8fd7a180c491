package sql

import (
	"context"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// expr is a compiled expression: a type known in advance and a function from a row to a value. The value must
// not be changed by whoever gets it.
type expr struct {
	typ      ora.Type
	nullable bool
	constant bool // the same for every row of an execution, without a subquery
	column   bool // a plain column of the row at hand
	slot     int  // where it is in the row
	eval     func(f *frame) (ora.Value, error)
}

// tri is a truth value of three-valued logic.
type tri int8

const (
	isFalse   tri = 0
	isTrue    tri = 1
	isUnknown tri = -1
)

func truth(b bool) tri {
	if b {
		return isTrue
	}
	return isFalse
}

// negate is NOT.
func (t tri) negate() tri {
	switch t {
	case isTrue:
		return isFalse
	case isFalse:
		return isTrue
	}
	return isUnknown
}

// condition is a compiled condition.
type condition func(f *frame) (tri, error)

// frame is the row at hand while expressions are evaluated, with those of the queries around it.
type frame struct {
	row    []ora.Value
	outer  *frame
	x      *execution
	rownum int64
	level  int64

	windows []ora.Value // of the analytic functions
}

// execution is what is fixed while one statement runs.
type execution struct {
	ctx     context.Context
	ses     *Session
	view    store.View // what tables without AS OF show
	binds   []ora.Value
	nls     *nls
	zone    zone  // of the session
	now     zoned // the server's clock at the start
	cached  map[*subplan]any
	formats map[string]*dateFormat
	rows    int // since ctx was last looked at
}

// tick is called for every row read and looks at the context now and then.
func (x *execution) tick() error {
	if x.rows++; x.rows&255 != 0 {
		return nil
	}
	return x.interrupted()
}

// interrupted is the error of a statement that was cancelled or whose session was killed.
func (x *execution) interrupted() error {
	if x.ctx.Err() != nil {
		return ora.Errorf(1013, "user requested cancel of current operation")
	}
	select {
	case <-x.ses.done:
		return ora.Errorf(28, "your session has been killed")
	default:
		return nil
	}
}

// dateFormat compiles a format model, once an execution.
func (x *execution) dateFormat(text string) (*dateFormat, error) {
	if f := x.formats[text]; f != nil {
		return f, nil
	}
	f, err := compileDateFormat(text)
	if err != nil {
		return nil, err
	}
	if x.formats == nil {
		x.formats = map[string]*dateFormat{}
	}
	x.formats[text] = f
	return f, nil
}

// constantExpr is an expression of one value.
func constantExpr(typ ora.Type, v ora.Value) expr {
	return expr{typ: typ, nullable: len(v) == 0, constant: true, eval: func(*frame) (ora.Value, error) { return v, nil }}
}

// isNullLiteral says whether an expression is always NULL, so that it takes any type.
func (e *expr) isNullLiteral() bool { return e.typ.Code == ora.Varchar2 && e.typ.Bytes == 0 }

// strict makes an expression of a function that is NULL when an argument is.
func strict(typ ora.Type, args []expr, fn func(x *execution, v []ora.Value) (ora.Value, error)) expr {
	constant := true
	for i := range args {
		constant = constant && args[i].constant
	}
	return expr{typ: typ, nullable: true, constant: constant, eval: func(f *frame) (ora.Value, error) {
		vals := make([]ora.Value, len(args))
		for i := range args {
			v, err := args[i].eval(f)
			if err != nil || len(v) == 0 {
				return nil, err
			}
			vals[i] = v
		}
		return fn(f.x, vals)
	}}
}
