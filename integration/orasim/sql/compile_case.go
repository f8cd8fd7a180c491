package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// caseExpr compiles both forms of CASE.
func (c *compiler) caseExpr(n *caseExpr) (expr, error) {
	conds := make([]condition, len(n.whens))
	results := make([]node, 0, len(n.whens)+1)
	for i, w := range n.whens {
		test := w.cond
		if n.operand != nil {
			test = &binary{loc(w.cond.at()), "=", n.operand, w.cond}
		}
		x, err := c.cond(test)
		if err != nil {
			return expr{}, err
		}
		conds[i] = x
		results = append(results, w.then)
	}
	if n.orElse == nil {
		results = append(results, nullLiteral(n.at()))
	} else {
		results = append(results, n.orElse)
	}
	thens, err := c.exprs(results)
	if err != nil {
		return expr{}, err
	}
	typ, err := unify(thens, results)
	if err != nil {
		return expr{}, err
	}
	orElse := &thens[len(conds)]
	return expr{typ: typ, nullable: true, eval: func(f *frame) (ora.Value, error) {
		for i, cond := range conds {
			t, err := cond(f)
			if err != nil {
				return nil, err
			}
			if t == isTrue {
				return thens[i].eval(f)
			}
		}
		return orElse.eval(f)
	}}, nil
}

// unify converts the alternatives of CASE, COALESCE and set operations to one type. They must be of one kind:
// numbers, text, datetimes, ...; NULL literals take any. The nodes are for the positions of errors.
func unify(list []expr, at []node) (ora.Type, error) {
	first := -1
	var common class
	for i := range list {
		if list[i].isNullLiteral() {
			continue
		}
		k := classOf(list[i].typ)
		switch {
		case first < 0:
			first, common = i, k
		case k == common:
		case k <= classFloat && common <= classFloat, isDatetime(k) && isDatetime(common), k == classLob && common == classText:
			common = max(k, common)
		case k == classText && common == classLob:
		default:
			return ora.Type{}, mismatch(at[i].at(), common, k)
		}
	}
	if first < 0 {
		return list[0].typ, nil
	}
	typ := list[first].typ
	for i := range list {
		if list[i].isNullLiteral() {
			list[i].typ = typ
			continue
		}
		typ = widen(typ, list[i].typ, common)
	}
	return typ, convertAll(list, at, typ, common)
}

// widen is a type that holds the values of both.
func widen(a, b ora.Type, common class) ora.Type {
	if classOf(a) != common || classOf(b) != common {
		if common != classText {
			return plainType(common)
		}
	}
	switch {
	case a == b:
		return a
	case common == classText:
		w := a
		if a.Code != b.Code || a.Bytes != b.Bytes {
			w.Code = ora.Varchar2
		}
		if a.Form != b.Form {
			w.Form = ora.FormNational
			w.Bytes = 2 * max(a.Chars, b.Chars)
		}
		w.Bytes, w.Chars = max(w.Bytes, b.Bytes), max(a.Chars, b.Chars)
		return w
	}
	return plainType(common)
}

// convertAll brings every expression to the common type's encoding.
func convertAll(list []expr, at []node, typ ora.Type, common class) error {
	for i := range list {
		if list[i].typ.Form == typ.Form && classOf(list[i].typ) == common && list[i].typ.Code != ora.BinaryFloat {
			continue
		}
		if typ.Form == ora.FormNational && common == classText {
			from := list[i].typ
			list[i] = list[i].through(typ, func(_ *execution, v ora.Value) (ora.Value, error) {
				return ora.EncodeNational(textOf(from, v)), nil
			})
			continue
		}
		if typ.Code == ora.BinaryFloat && list[i].typ.Code == ora.BinaryFloat {
			continue
		}
		e, err := list[i].to(common, at[i].at())
		if err != nil {
			return err
		}
		list[i] = e
	}
	return nil
}

// follow converts alternatives to the type of the first, as NVL and DECODE do: text where the first is text.
func follow(list []expr, at []node) (ora.Type, error) {
	lead := classOf(list[0].typ)
	if list[0].isNullLiteral() {
		lead = classText
	}
	for i := range list {
		k := classOf(list[i].typ)
		if k == lead || list[i].isNullLiteral() || lead <= classFloat && k <= classFloat {
			continue
		}
		e, err := list[i].to(lead, at[i].at())
		if err != nil {
			return ora.Type{}, err
		}
		list[i] = e
	}
	return unify(list, at)
}
