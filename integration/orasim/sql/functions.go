package sql

import (
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// function is a scalar function: how many arguments it takes and how a call is compiled.
type function struct {
	min, max int  // max -1: any number
	niladic  bool // may be written without parentheses
	compile  func(c *compiler, n *call, args []expr) (expr, error)
}

// functionTable lists every scalar function. Those with a syntax of their own (CAST, EXTRACT, TRIM) and the
// aggregates are elsewhere.
func functionTable() map[string]function {
	all := map[string]function{}
	for _, group := range []map[string]function{
		nullFunctions(), numberFunctions(), textFunctions(), conversionFunctions(), timeFunctions(), sessionFunctions(), rowidFunctions(),
	} {
		for name, f := range group {
			all[name] = f
		}
	}
	return all
}

// call compiles a call of a scalar function; aggregates come here only where they may not stand.
func (c *compiler) call(n *call) (expr, error) {
	if aggregateName(n.name) {
		return expr{}, errAt(n.at(), 934, "group function is not allowed here")
	}
	if n.star || n.distinct {
		return expr{}, errAt(n.at(), 936, "missing expression")
	}
	args, err := c.exprs(n.args)
	if err != nil {
		return expr{}, err
	}
	return c.function(n, args)
}

func (c *compiler) function(n *call, args []expr) (expr, error) {
	fn, ok := c.db.functions[strings.TrimPrefix(n.name, "SYS.")]
	switch {
	case !ok:
		return expr{}, errAt(n.at(), 904, "%s: invalid identifier", quotedPath(strings.Split(n.name, ".")))
	case len(args) < fn.min:
		return expr{}, errAt(n.at(), 938, "not enough arguments for function")
	case fn.max >= 0 && len(args) > fn.max:
		return expr{}, errAt(n.at(), 939, "too many arguments for function")
	}
	e, err := fn.compile(c, n, args)
	e.column = false
	return e, err
}

// asClasses converts arguments to classes, the last of which holds for the rest.
func asClasses(n *call, args []expr, classes ...class) ([]expr, error) {
	list := make([]expr, len(args))
	for i, a := range args {
		e, err := a.to(classes[min(i, len(classes)-1)], argAt(n, i))
		if err != nil {
			return nil, err
		}
		list[i] = e
	}
	return list, nil
}

func argAt(n *call, i int) int {
	if i < len(n.args) {
		return n.args[i].at()
	}
	return n.at()
}

// nullFunctions are those that look at NULLs or choose among values.
func nullFunctions() map[string]function {
	return map[string]function{
		"NVL": {2, 2, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			typ, err := follow(args, n.args)
			return firstNotNull(typ, args), err
		}},
		"COALESCE": {2, -1, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			typ, err := unify(args, n.args)
			return firstNotNull(typ, args), err
		}},
		"NVL2": {3, 3, false, func(_ *compiler, n *call, args []expr) (expr, error) {
			typ, err := follow(args[1:], n.args[1:])
			return expr{typ: typ, nullable: true, eval: func(f *frame) (ora.Value, error) {
				v, err := args[0].eval(f)
				if err != nil {
					return nil, err
				}
				if len(v) > 0 {
					return args[1].eval(f)
				}
				return args[2].eval(f)
			}}, err
		}},
		"NULLIF":   {2, 2, false, nullIf},
		"DECODE":   {3, -1, false, decode},
		"GREATEST": {1, -1, false, extreme(1)},
		"LEAST":    {1, -1, false, extreme(-1)},
	}
}

func firstNotNull(typ ora.Type, args []expr) expr {
	nullable := args[len(args)-1].nullable
	return expr{typ: typ, nullable: nullable, eval: func(f *frame) (ora.Value, error) {
		for i := range args {
			v, err := args[i].eval(f)
			if err != nil || len(v) > 0 {
				return v, err
			}
		}
		return nil, nil
	}}
}

func nullIf(_ *compiler, n *call, args []expr) (expr, error) {
	l, r, compare, err := comparable(args[0], args[1], n.at())
	if err != nil {
		return expr{}, err
	}
	first := args[0]
	return expr{typ: first.typ, nullable: true, eval: func(f *frame) (ora.Value, error) {
		a, err := l.eval(f)
		if err != nil {
			return nil, err
		}
		b, err := r.eval(f)
		if err != nil || len(a) > 0 && len(b) > 0 && compare(a, b) == 0 {
			return nil, err
		}
		return first.eval(f)
	}}, nil
}

// decode compiles DECODE(x, search, result, ..., default); two NULLs are equal in it.
func decode(_ *compiler, n *call, args []expr) (expr, error) {
	type branch struct {
		l, r    expr
		compare comparer
		result  int
	}
	var branches []branch
	var results []expr
	var places []node
	i := 1
	for ; i+1 < len(args); i += 2 {
		l, r, compare, err := comparable(args[0], args[i], argAt(n, i))
		if err != nil {
			return expr{}, err
		}
		branches = append(branches, branch{l, r, compare, len(results)})
		results, places = append(results, args[i+1]), append(places, n.args[i+1])
	}
	if i < len(args) {
		results, places = append(results, args[i]), append(places, n.args[i])
	} else {
		results, places = append(results, constantExpr(textType(0), nil)), append(places, n)
	}
	typ, err := follow(results, places)
	return expr{typ: typ, nullable: true, eval: func(f *frame) (ora.Value, error) {
		for i := range branches {
			b := &branches[i]
			x, err := b.l.eval(f)
			if err != nil {
				return nil, err
			}
			y, err := b.r.eval(f)
			if err != nil {
				return nil, err
			}
			if len(x) == 0 && len(y) == 0 || len(x) > 0 && len(y) > 0 && b.compare(x, y) == 0 {
				return results[b.result].eval(f)
			}
		}
		return results[len(results)-1].eval(f)
	}}, err
}

// extreme compiles GREATEST (1) and LEAST (-1): NULL if any argument is.
func extreme(sign int) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		typ, err := follow(args, n.args)
		if err != nil {
			return expr{}, err
		}
		compare := bytesCompare
		if classOf(typ) == classTZ {
			compare = zoneCompare
		}
		return strict(typ, args, func(_ *execution, v []ora.Value) (ora.Value, error) {
			best := v[0]
			for _, x := range v[1:] {
				if compare(x, best)*sign > 0 {
					best = x
				}
			}
			return best, nil
		}), nil
	}
}
