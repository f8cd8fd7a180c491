package sql

import (
	"bytes"
	"unicode/utf8"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// cond compiles a condition.
func (c *compiler) cond(n node) (condition, error) {
	switch n := n.(type) {
	case *logic:
		return c.logic(n)
	case *notCond:
		x, err := c.cond(n.x)
		if err != nil {
			return nil, err
		}
		return func(f *frame) (tri, error) {
			t, err := x(f)
			return t.negate(), err
		}, nil
	case *binary:
		if isComparison(n.op) {
			return c.comparison(n)
		}
	case *isNull:
		return c.isNull(n)
	case *between:
		lo := &binary{n.loc, ">=", n.x, n.lo}
		hi := &binary{n.loc, "<=", n.x, n.hi}
		both, err := c.logic(&logic{n.loc, "AND", []node{lo, hi}})
		return negated(both, n.not), err
	case *inCond:
		if n.sub != nil {
			return c.inQuery(n)
		}
		return c.inList(n)
	case *likeCond:
		return c.like(n)
	case *existsCond:
		return c.exists(n)
	}
	return nil, errAt(n.at(), 920, "invalid relational operator")
}

func negated(c condition, not bool) condition {
	if !not || c == nil {
		return c
	}
	return func(f *frame) (tri, error) {
		t, err := c(f)
		return t.negate(), err
	}
}

// logic compiles AND and OR: the first term that decides ends it.
func (c *compiler) logic(n *logic) (condition, error) {
	terms := make([]condition, len(n.terms))
	for i, t := range n.terms {
		x, err := c.cond(t)
		if err != nil {
			return nil, err
		}
		terms[i] = x
	}
	decides := truth(n.op == "OR")
	return func(f *frame) (tri, error) {
		result := decides.negate()
		for _, term := range terms {
			t, err := term(f)
			if err != nil {
				return isUnknown, err
			}
			if t == decides {
				return t, nil
			}
			if t == isUnknown {
				result = t
			}
		}
		return result, nil
	}, nil
}

func (c *compiler) isNull(n *isNull) (condition, error) {
	x, err := c.expr(n.x)
	if err != nil {
		return nil, err
	}
	return func(f *frame) (tri, error) {
		v, err := x.eval(f)
		return truth(absent(x.typ, v) != n.not), err
	}, nil
}

// comparer compares two values that are not NULL, both encoded as comparable made them.
type comparer func(a, b ora.Value) int

// comparable converts two expressions so that their values can be compared.
func comparable(l, r expr, pos int) (expr, expr, comparer, error) {
	lc, rc := classOf(l.typ), classOf(r.typ)
	if l.isNullLiteral() || r.isNullLiteral() {
		return l, r, bytesCompare, nil
	}
	for _, k := range []class{lc, rc} {
		if k == classLob || k == classBlob || k == classOther {
			return l, r, nil, errAt(pos, 932, "inconsistent datatypes: expected - got %s", k.name())
		}
	}
	common, ok := commonClass(lc, rc)
	if !ok {
		return l, r, nil, mismatch(pos, lc, rc)
	}
	compare := bytesCompare
	switch {
	case common == classText && l.typ.Code == ora.Char && r.typ.Code == ora.Char:
		compare = paddedCompare
	case common == classTZ:
		compare = zoneCompare
	}
	l, err := l.to(common, pos)
	if err != nil {
		return l, r, nil, err
	}
	r, err = r.to(common, pos)
	return l, r, compare, err
}

func bytesCompare(a, b ora.Value) int { return bytes.Compare(a, b) }

// paddedCompare compares as if the shorter were filled with blanks, as Oracle does between CHARs and literals.
func paddedCompare(a, b ora.Value) int {
	n := min(len(a), len(b))
	if d := bytes.Compare(a[:n], b[:n]); d != 0 {
		return d
	}
	for _, c := range a[n:] {
		if c != ' ' {
			return 2*int(truth(c > ' ')) - 1
		}
	}
	for _, c := range b[n:] {
		if c != ' ' {
			return 1 - 2*int(truth(c > ' '))
		}
	}
	return 0
}

// zoneCompare compares instants: the bytes of the zone are left out.
func zoneCompare(a, b ora.Value) int {
	return bytes.Compare(a[:min(len(a), 11)], b[:min(len(b), 11)])
}

// commonClass is the class in which two values are compared.
func commonClass(l, r class) (class, bool) {
	if l == r {
		if l == classLTZ {
			return classTZ, true
		}
		return l, true
	}
	if l > r {
		l, r = r, l
	}
	switch {
	case l == classNumber && r == classFloat:
		return classFloat, true
	case l <= classFloat && r == classText:
		return l, true
	case l == classText: // the other side decides
		if r == classLTZ {
			return classTZ, true
		}
		return r, true
	case isDatetime(l) && isDatetime(r):
		return min(r, classTZ), true
	}
	return 0, false
}

func (c *compiler) comparison(n *binary) (condition, error) {
	l, err := c.expr(n.l)
	if err != nil {
		return nil, err
	}
	r, err := c.expr(n.r)
	if err != nil {
		return nil, err
	}
	l, r, compare, err := comparable(l, r, n.at())
	if err != nil {
		return nil, err
	}
	holds := operator(n.op)
	return func(f *frame) (tri, error) {
		a, err := l.eval(f)
		if err != nil {
			return isUnknown, err
		}
		b, err := r.eval(f)
		if err != nil || len(a) == 0 || len(b) == 0 {
			return isUnknown, err
		}
		return holds[compare(a, b)+1], nil
	}, nil
}

// operator is the truth of a comparison for less, equal and greater.
func operator(op string) [3]tri {
	switch op {
	case "=":
		return [3]tri{isFalse, isTrue, isFalse}
	case "<>":
		return [3]tri{isTrue, isFalse, isTrue}
	case "<":
		return [3]tri{isTrue, isFalse, isFalse}
	case "<=":
		return [3]tri{isTrue, isTrue, isFalse}
	case ">":
		return [3]tri{isFalse, isFalse, isTrue}
	}
	return [3]tri{isFalse, isTrue, isTrue}
}

func (c *compiler) inList(n *inCond) (condition, error) {
	terms := make([]node, len(n.list))
	for i, x := range n.list {
		terms[i] = &binary{n.loc, "=", n.x, x}
	}
	any, err := c.logic(&logic{n.loc, "OR", terms})
	return negated(any, n.not), err
}

// like compiles LIKE: % is any text, _ is one character, and the escape character takes the next as it is.
func (c *compiler) like(n *likeCond) (condition, error) {
	x, err := c.exprAs(n.x, classText)
	if err != nil {
		return nil, err
	}
	pattern, err := c.exprAs(n.pattern, classText)
	if err != nil {
		return nil, err
	}
	escape := constantExpr(textType(1), nil)
	if n.escape != nil {
		if escape, err = c.exprAs(n.escape, classText); err != nil {
			return nil, err
		}
	}
	return negated(func(f *frame) (tri, error) {
		s, err := x.eval(f)
		if err != nil {
			return isUnknown, err
		}
		p, err := pattern.eval(f)
		if err != nil || len(s) == 0 || len(p) == 0 {
			return isUnknown, err
		}
		esc, err := escape.eval(f)
		if err != nil {
			return isUnknown, err
		}
		parts, err := likePattern(string(p), string(esc), n.escape != nil)
		return truth(err == nil && likeMatch(string(s), parts)), err
	}, n.not), nil
}

// likePart is one element of a pattern: a character, or one of the wildcards.
type likePart struct {
	char     rune
	any, one bool
}

func likePattern(p, escape string, escaped bool) ([]likePart, error) {
	esc, n := utf8.DecodeRuneInString(escape)
	if escaped && (n == 0 || n != len(escape)) {
		return nil, ora.Errorf(1425, "escape character must be character string of length 1")
	}
	var parts []likePart
	literal := false
	for _, r := range p {
		switch {
		case literal && r != '%' && r != '_' && r != esc:
			return nil, ora.Errorf(1424, "missing or illegal character following the escape character")
		case literal:
			parts = append(parts, likePart{char: r})
			literal = false
		case escaped && r == esc:
			literal = true
		case r == '%':
			parts = append(parts, likePart{any: true})
		case r == '_':
			parts = append(parts, likePart{one: true})
		default:
			parts = append(parts, likePart{char: r})
		}
	}
	if literal {
		return nil, ora.Errorf(1424, "missing or illegal character following the escape character")
	}
	return parts, nil
}

// likeMatch goes back only to the last %, so that it takes at most len(s)*len(parts) steps.
func likeMatch(text string, parts []likePart) bool {
	s := []rune(text)
	i, j := 0, 0
	backS, backP := -1, -1
	for i < len(s) {
		switch {
		case j < len(parts) && parts[j].any:
			backS, backP = i, j
			j++
		case j < len(parts) && (parts[j].one || parts[j].char == s[i]):
			i++
			j++
		case backP >= 0:
			backS++
			i, j = backS, backP+1
		default:
			return false
		}
	}
	for j < len(parts) && parts[j].any {
		j++
	}
	return j == len(parts)
}
