package sql

import (
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// expr reads an expression or condition: OR binds loosest. Whether a condition may stand where it does is the
// compiler's question.
func (p *parser) expr() node {
	defer p.enter()()
	return p.chain("OR", func() node {
		return p.chain("AND", p.notTerm)
	})
}

// value reads an expression that is no condition, up to a comparison or AND.
func (p *parser) value() node {
	defer p.enter()()
	return p.sum()
}

func (p *parser) chain(op string, term func() node) node {
	pos := p.peek().pos
	terms := []node{term()}
	for p.words(op) {
		if terms = append(terms, term()); len(terms) > maxChain {
			p.fail(3001, "unimplemented feature: more than %d terms", maxChain)
		}
	}
	if len(terms) == 1 {
		return terms[0]
	}
	return &logic{loc(pos), op, terms}
}

func (p *parser) notTerm() node {
	pos := p.peek().pos
	if p.words("NOT") {
		defer p.enter()()
		return &notCond{loc(pos), p.notTerm()}
	}
	return p.predicate()
}

func (p *parser) predicate() node {
	pos := p.peek().pos
	if p.peek().isWord("EXISTS") && p.peekAt(1).isSymbol("(") {
		p.i += 2
		sub := p.query()
		p.close()
		return &existsCond{loc(pos), sub}
	}
	x := p.sum()
	for {
		next, ok := p.predicateTail(pos, x)
		if !ok {
			return x
		}
		x = next
	}
}

// predicateTail reads what follows a value to make it a condition.
func (p *parser) predicateTail(pos int, x node) (node, bool) {
	if t := p.peek(); t.kind == tokSymbol {
		switch t.text {
		case "=", "<>", "<", ">", "<=", ">=":
			p.i++
			if w := p.peek(); w.isWord("ANY") || w.isWord("SOME") || w.isWord("ALL") {
				p.notYet("comparison with " + w.text)
			}
			return &binary{loc(pos), t.text, x, p.sum()}, true
		}
		return nil, false
	}
	if p.words("IS") {
		not := p.words("NOT")
		if !p.words("NULL") {
			if w := p.peek(); w.isWord("NAN") || w.isWord("INFINITE") || w.isWord("OF") || w.isWord("JSON") {
				p.notYet("IS " + w.text)
			}
			p.fail(908, "missing NULL keyword")
		}
		return &isNull{loc(pos), x, not}, true
	}
	mark := p.i
	not := p.words("NOT")
	switch {
	case p.words("BETWEEN"):
		lo := p.sum()
		p.need("AND")
		return &between{loc(pos), x, lo, p.sum(), not}, true
	case p.words("IN"):
		return p.in(pos, x, not), true
	case p.words("LIKE"):
		n := &likeCond{loc: loc(pos), x: x, pattern: p.sum(), not: not}
		if p.words("ESCAPE") {
			n.escape = p.sum()
		}
		return n, true
	}
	p.i = mark
	return nil, false
}

func (p *parser) in(pos int, x node, not bool) node {
	n := &inCond{loc: loc(pos), x: x, not: not}
	if !p.symbol("(") {
		n.list = []node{p.sum()}
		return n
	}
	if p.peek().isWord("SELECT") || p.peek().isWord("WITH") {
		n.sub = p.query()
	} else {
		n.list = p.list()
	}
	if len(n.list) == 1 {
		if sub, ok := n.list[0].(*subquery); ok {
			n.list, n.sub = nil, sub.sel
			if p.atSetOperation() {
				n.sub = p.queryAfter(sub.sel)
			}
		}
	}
	p.close()
	if len(n.list) > 1000 {
		p.failAt(pos, 1795, "maximum number of expressions in a list is 1000")
	}
	return n
}

// list reads a, b, c.
func (p *parser) list() []node {
	all := []node{p.value()}
	for p.symbol(",") {
		all = append(all, p.value())
	}
	return all
}

func (p *parser) sum() node {
	return p.operators(p.product, "+", "-", "||")
}

func (p *parser) product() node {
	return p.operators(p.unary, "*", "/")
}

// operators reads a chain of left-associative operators of one rank.
func (p *parser) operators(operand func() node, ops ...string) node {
	pos := p.peek().pos
	x := operand()
	for n := 0; ; n++ {
		t := p.peek()
		found := false
		for _, op := range ops {
			found = found || t.isSymbol(op)
		}
		if !found {
			return x
		}
		if n > maxChain {
			p.fail(3001, "unimplemented feature: more than %d operators", maxChain)
		}
		p.i++
		x = &binary{loc(pos), t.text, x, operand()}
	}
}

func (p *parser) unary() node {
	t := p.peek()
	if t.isSymbol("-") || t.isSymbol("+") || t.isWord("PRIOR") {
		defer p.enter()()
		p.i++
		return &unary{loc(t.pos), t.text, p.unary()}
	}
	return p.zoned(p.primary())
}

// zoned reads AT TIME ZONE and AT LOCAL after a value.
func (p *parser) zoned(x node) node {
	for {
		switch {
		case p.words("AT", "LOCAL"):
			x = &zoneExpr{loc(x.at()), x, nil}
		case p.words("AT", "TIME", "ZONE"):
			x = &zoneExpr{loc(x.at()), x, p.primary()}
		default:
			return x
		}
	}
}

func (p *parser) primary() node {
	t := p.peek()
	switch t.kind {
	case tokNumber:
		p.i++
		return p.numberLiteral(t)
	case tokString:
		p.i++
		return textLiteral(t.pos, t.text)
	case tokNational:
		p.i++
		v := ora.EncodeNational(t.text)
		typ := ora.Type{Code: ora.Char, Form: ora.FormNational, Bytes: uint32(len(v)), Chars: uint32(len(v) / 2), CharUsed: true}
		return &literal{loc(t.pos), typ, v}
	case tokBind:
		p.i++
		p.binds = append(p.binds, t.text)
		return &bindRef{loc(t.pos), t.text, len(p.binds) - 1}
	case tokSymbol:
		if t.text == "(" {
			return p.parenthesis()
		}
	case tokQuoted:
		return p.reference()
	case tokIdent:
		return p.wordPrimary(t)
	}
	p.fail(936, "missing expression")
	return nil
}

func textLiteral(pos int, s string) node {
	n := uint32(len(s))
	if n == 0 {
		return nullLiteral(pos)
	}
	chars := uint32(len([]rune(s)))
	return &literal{loc(pos), ora.Type{Code: ora.Char, Form: ora.FormDatabase, Bytes: n, Chars: chars}, ora.Value(s)}
}

func intLiteral(pos int, i int64) node {
	return &literal{loc(pos), numberType(), ora.EncodeInt(i)}
}

func nullLiteral(pos int) node {
	return &literal{loc(pos), ora.Type{Code: ora.Varchar2, Form: ora.FormDatabase}, nil}
}

func (p *parser) numberLiteral(t token) node {
	switch last := t.text[len(t.text)-1]; last {
	case 'f', 'd':
		bits := 64
		if last == 'f' {
			bits = 32
		}
		f, err := strconv.ParseFloat(t.text[:len(t.text)-1], bits)
		if err != nil {
			p.failAt(t.pos, 1426, "numeric overflow")
		}
		if last == 'f' {
			return &literal{loc(t.pos), ora.Type{Code: ora.BinaryFloat, Bytes: 4}, ora.EncodeFloat(float32(f))}
		}
		return &literal{loc(t.pos), ora.Type{Code: ora.BinaryDouble, Bytes: 8}, ora.EncodeDouble(f)}
	}
	n, err := ora.ParseNum(t.text)
	if err != nil {
		p.failAt(t.pos, 1426, "numeric overflow")
	}
	return &literal{loc(t.pos), numberType(), n.Encode()}
}

func (p *parser) parenthesis() node {
	defer p.enter()()
	pos := p.next().pos
	if p.peek().isWord("SELECT") || p.peek().isWord("WITH") {
		sub := p.query()
		p.close()
		return &subquery{loc(pos), sub}
	}
	x := p.expr()
	if sub, ok := x.(*subquery); ok && p.atSetOperation() {
		x = &subquery{loc(pos), p.queryAfter(sub.sel)}
	}
	if p.peek().isSymbol(",") {
		p.notYet("row value")
	}
	p.close()
	return x
}

// startsQuery says whether a query comes next, in any number of parentheses.
func (p *parser) startsQuery() bool {
	i := 0
	for p.peekAt(i).isSymbol("(") {
		i++
	}
	t := p.peekAt(i)
	return t.isWord("SELECT") || t.isWord("WITH")
}

// wordPrimary reads what begins with an unquoted word.
func (p *parser) wordPrimary(t token) node {
	next := p.peekAt(1)
	switch t.text {
	case "NULL":
		p.i++
		return nullLiteral(t.pos)
	case "CASE":
		return p.caseExpr()
	case "DATE", "TIMESTAMP":
		if next.kind == tokString {
			p.i += 2
			return p.timeLiteral(t, next)
		}
	case "INTERVAL":
		if next.kind == tokString {
			p.i += 2
			return p.intervalLiteral(t, next)
		}
	case "CAST", "EXTRACT", "TRIM":
		if next.isSymbol("(") {
			p.i += 2
			return p.specialCall(t)
		}
	case "ROWNUM", "LEVEL", "ROWID", "SYSDATE", "USER", "UID":
		p.i++
		return &columnRef{loc: loc(t.pos), parts: []string{t.text}}
	case "CURSOR", "XMLELEMENT", "TREAT", "JSON_OBJECT", "JSON_ARRAY":
		if next.isSymbol("(") {
			p.notYet(t.text)
		}
	}
	if isReserved(t.text) {
		p.fail(936, "missing expression")
	}
	return p.reference()
}

// reference reads a column, or a call of a function.
func (p *parser) reference() node {
	first := p.peek()
	parts := []string{p.columnName()}
	for p.peek().isSymbol(".") {
		p.i++
		if len(parts) == 3 {
			p.failAt(first.pos, 904, "invalid identifier")
		}
		if t := p.peek(); t.isWord("ROWID") || t.isWord("NEXTVAL") || t.isWord("CURRVAL") {
			parts = append(parts, p.next().text)
			continue
		}
		parts = append(parts, p.columnName())
	}
	if p.peek().isSymbol("(") && !(p.peekAt(1).isSymbol("+") && p.peekAt(2).isSymbol(")")) {
		return p.call(first.pos, strings.Join(parts, "."))
	}
	ref := &columnRef{loc: loc(first.pos), parts: parts}
	if p.symbol("(") {
		p.i += 2 // + )
		ref.outer = true
	}
	return ref
}

func (p *parser) call(pos int, name string) node {
	defer p.enter()()
	p.open()
	n := &call{loc: loc(pos), name: name}
	switch {
	case p.symbol(")"):
		return p.afterCall(n)
	case p.peek().isSymbol("*") && p.peekAt(1).isSymbol(")"):
		p.i++
		n.star = true
	default:
		if p.words("DISTINCT") || p.words("UNIQUE") {
			n.distinct = true
		} else {
			p.words("ALL")
		}
		n.args = p.arguments()
	}
	p.close()
	return p.afterCall(n)
}

func (p *parser) arguments() []node {
	all := []node{p.value()}
	for p.symbol(",") {
		all = append(all, p.value())
	}
	return all
}

func (p *parser) afterCall(n *call) node {
	if p.peek().isWord("OVER") && p.peekAt(1).isSymbol("(") {
		p.i++
		return p.over(n)
	}
	if t := p.peek(); t.isWord("WITHIN") && p.peekAt(1).isWord("GROUP") ||
		t.isWord("KEEP") && p.peekAt(1).isSymbol("(") {
		p.notYet(n.name + " " + t.text)
	}
	return n
}

func (p *parser) caseExpr() node {
	defer p.enter()()
	n := &caseExpr{loc: loc(p.next().pos)}
	if !p.peek().isWord("WHEN") {
		n.operand = p.value()
	}
	for p.words("WHEN") {
		var w when
		if n.operand != nil {
			w.cond = p.value()
		} else {
			w.cond = p.expr()
		}
		p.need("THEN")
		w.then = p.value()
		n.whens = append(n.whens, w)
	}
	if len(n.whens) == 0 {
		p.fail(905, "missing keyword")
	}
	if p.words("ELSE") {
		n.orElse = p.value()
	}
	p.need("END")
	return n
}

// specialCall reads CAST(x AS type), EXTRACT(field FROM x) and TRIM([side] [chars] FROM x), after the
// parenthesis.
func (p *parser) specialCall(name token) node {
	defer p.enter()()
	pos := loc(name.pos)
	switch name.text {
	case "CAST":
		x := p.value()
		p.need("AS")
		typ := p.dataType()
		if p.peek().isWord("DEFAULT") || p.peek().isSymbol(",") {
			p.notYet("CAST with DEFAULT or a format")
		}
		p.close()
		return &castExpr{pos, x, typ}
	case "EXTRACT":
		field := p.next()
		if field.kind != tokIdent || !p.words("FROM") {
			p.failAt(field.pos, 907, "missing right parenthesis")
		}
		x := p.value()
		p.close()
		return &extractExpr{pos, field.text, x}
	}
	n := &trimExpr{loc: pos, side: "BOTH"}
	said := false
	for _, side := range [...]string{"LEADING", "TRAILING", "BOTH"} {
		if !said && p.words(side) {
			n.side, said = side, true
		}
	}
	if !p.words("FROM") {
		n.x = p.value()
		if p.words("FROM") {
			n.chars, n.x = n.x, p.value()
		} else if said {
			p.fail(907, "missing right parenthesis")
		}
	} else {
		n.x = p.value()
	}
	p.close()
	return n
}
