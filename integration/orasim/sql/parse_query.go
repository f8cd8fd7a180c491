package sql

import (
	"strings"
)

// query reads a whole query, with what may stand around its blocks.
func (p *parser) query() *selectStmt {
	defer p.enter()()
	s := &selectStmt{loc: loc(p.peek().pos)}
	if p.words("WITH") {
		s.with = append(s.with, p.namedQuery())
		for p.symbol(",") {
			s.with = append(s.with, p.namedQuery())
		}
	}
	s.body = p.setOperations(p.queryTerm())
	p.queryTail(s)
	return s
}

// queryAfter reads on where a query in parentheses turned out to be the first of a set operation.
func (p *parser) queryAfter(first *selectStmt) *selectStmt {
	s := &selectStmt{loc: first.loc, body: p.setOperations(first)}
	p.queryTail(s)
	return s
}

func (p *parser) queryTail(s *selectStmt) {
	if p.words("ORDER", "BY") {
		s.order = append(s.order, p.orderItem())
		for p.symbol(",") {
			s.order = append(s.order, p.orderItem())
		}
	}
	p.rowLimit(s)
	if p.words("FOR", "UPDATE") {
		s.locking = p.lockClause()
	}
}

func (p *parser) namedQuery() namedQuery {
	q := namedQuery{name: p.name(903, "invalid table name")}
	if p.peek().isSymbol("(") {
		q.columns = p.names()
	}
	p.need("AS")
	p.open()
	q.sel = p.query()
	p.close()
	return q
}

// atSetOperation says whether UNION, INTERSECT or MINUS comes next.
func (p *parser) atSetOperation() bool {
	t := p.peek()
	return t.isWord("UNION") || t.isWord("INTERSECT") || t.isWord("MINUS")
}

func (p *parser) setOperations(x queryBody) queryBody {
	for n := 0; ; n++ {
		pos := p.peek().pos
		var op string
		switch {
		case p.words("UNION", "ALL"):
			op = "UNION ALL"
		case p.words("UNION"):
			op = "UNION"
		case p.words("INTERSECT"):
			op = "INTERSECT"
		case p.words("MINUS"):
			op = "MINUS"
		default:
			return x
		}
		if n >= maxDepth {
			p.fail(3001, "unimplemented feature: more than %d set operations", maxDepth)
		}
		x = &setOp{loc(pos), op, x, p.queryTerm()}
	}
}

func (p *parser) queryTerm() queryBody {
	if p.symbol("(") {
		s := p.query()
		p.close()
		return s
	}
	return p.queryBlock()
}

func (p *parser) queryBlock() *queryBlock {
	b := &queryBlock{loc: loc(p.peek().pos)}
	if !p.words("SELECT") {
		p.fail(928, "missing SELECT keyword")
	}
	if p.words("DISTINCT") || p.words("UNIQUE") {
		b.distinct = true
	} else {
		p.words("ALL")
	}
	b.items = append(b.items, p.selectItem())
	for p.symbol(",") {
		b.items = append(b.items, p.selectItem())
	}
	if p.peek().isWord("BULK") || p.peek().isWord("INTO") {
		p.notYet("SELECT INTO")
	}
	if !p.words("FROM") {
		p.fail(923, "FROM keyword not found where expected")
	}
	b.from = append(b.from, p.fromItem())
	for p.symbol(",") {
		b.from = append(b.from, p.fromItem())
	}
	if p.words("WHERE") {
		b.where = p.expr()
	}
	p.hierarchy(b)
	if p.words("GROUP", "BY") {
		if t := p.peek(); t.isWord("ROLLUP") || t.isWord("CUBE") || t.isWord("GROUPING") {
			p.notYet("GROUP BY " + t.text)
		}
		b.group = append(b.group, p.value())
		for p.symbol(",") {
			b.group = append(b.group, p.value())
		}
	}
	if p.words("HAVING") {
		b.having = p.expr()
	}
	return b
}

func (p *parser) hierarchy(b *queryBlock) {
	if p.peek().isWord("START") && p.peekAt(1).isWord("WITH") {
		p.notYet("START WITH")
	}
	if p.words("CONNECT", "BY") {
		p.words("NOCYCLE")
		b.connect = p.expr()
	}
}

func (p *parser) selectItem() selectItem {
	start := p.peek()
	item := selectItem{loc: loc(start.pos)}
	if p.symbol("*") {
		item.star = true
		return item
	}
	if table, ok := p.tableStar(); ok {
		item.star, item.table = true, table
		return item
	}
	item.x = p.expr()
	item.text = p.source(start.pos)
	if p.words("AS") {
		item.alias = p.name(923, "FROM keyword not found where expected")
	} else if isName(p.peek()) {
		item.alias = p.next().text
	}
	return item
}

// tableStar reads [schema.]table.* if it is next.
func (p *parser) tableStar() ([]string, bool) {
	for n := 1; n <= 2; n++ {
		if !p.peekAt(2*n-1).isSymbol(".") || !isName(p.peekAt(2*n-2)) {
			return nil, false
		}
		if p.peekAt(2 * n).isSymbol("*") {
			var parts []string
			for i := range n {
				parts = append(parts, p.peekAt(2*i).text)
			}
			p.i += 2*n + 1
			return parts, true
		}
	}
	return nil, false
}

// source is the text from a position to the end of the last token taken, as Oracle names an unnamed column:
// without blanks, upper-case outside quotes.
func (p *parser) source(from int) string {
	var b strings.Builder
	for i := 0; i < p.i; i++ {
		t := p.tokens[i]
		if t.pos < from {
			continue
		}
		text := p.src[t.pos:t.end]
		if t.kind != tokString && t.kind != tokQuoted && t.kind != tokNational {
			text = strings.ToUpper(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

func (p *parser) fromItem() fromItem {
	defer p.enter()()
	x := p.tableOrQuery()
	for n := 0; ; n++ {
		pos := p.peek().pos
		if n > maxDepth {
			p.fail(3001, "unimplemented feature: more than %d joins", maxDepth)
		}
		j := &joined{loc: loc(pos), l: x}
		switch {
		case p.words("CROSS", "JOIN"):
			j.r = p.tableOrQuery()
			x = j
			continue
		case p.words("JOIN"), p.words("INNER", "JOIN"):
		case p.words("LEFT", "JOIN"), p.words("LEFT", "OUTER", "JOIN"):
			j.left = true
		case p.peek().isWord("RIGHT") || p.peek().isWord("FULL") || p.peek().isWord("NATURAL") || p.peek().isWord("LATERAL"):
			p.notYet(p.peek().text + " JOIN")
		default:
			return x
		}
		j.r = p.tableOrQuery()
		if p.peek().isWord("USING") {
			p.notYet("JOIN USING")
		}
		p.need("ON")
		j.on = p.expr()
		x = j
	}
}

func (p *parser) tableOrQuery() fromItem {
	pos := p.peek().pos
	if p.peek().isSymbol("(") {
		if !p.startsQuery() {
			p.i++
			x := p.fromItem()
			p.close()
			return x
		}
		p.i++
		d := &derived{loc: loc(pos), sel: p.query()}
		p.close()
		p.noMore()
		d.alias = p.tableAlias()
		return d
	}
	if t := p.peek(); t.isWord("TABLE") && p.peekAt(1).isSymbol("(") || t.isWord("LATERAL") || t.isWord("ONLY") && p.peekAt(1).isSymbol("(") {
		p.notYet("FROM " + t.text)
	}
	q := p.qualifiedName()
	ref := &tableRef{loc: q.loc, schema: q.schema, name: q.name}
	ref.part = p.partitionRef()
	ref.sample = p.sample()
	p.noMore()
	ref.asOf = p.asOf()
	p.noMore()
	ref.alias = p.tableAlias()
	return ref
}

// noMore refuses the clauses of a table reference that are not known.
func (p *parser) noMore() {
	t, next := p.peek(), p.peekAt(1)
	switch {
	case (t.isWord("PARTITION") || t.isWord("SUBPARTITION")) && (next.isSymbol("(") || next.isWord("FOR")),
		t.isWord("SAMPLE") && (next.isSymbol("(") || next.isWord("BLOCK")), t.isWord("VERSIONS") && next.isWord("BETWEEN"),
		(t.isWord("PIVOT") || t.isWord("UNPIVOT")) && next.isSymbol("("):
		p.notYet(t.text)
	}
}

func (p *parser) asOf() *asOf {
	pos := p.peek().pos
	if !p.words("AS", "OF") {
		return nil
	}
	a := &asOf{loc: loc(pos)}
	switch {
	case p.words("SCN"):
	case p.words("TIMESTAMP"):
		a.timestamp = true
		if t := p.peek(); t.kind == tokString { // TIMESTAMP 'literal' would be AS OF TIMESTAMP TIMESTAMP '...'
			p.notYet("AS OF TIMESTAMP with a character literal")
		}
	default:
		p.fail(905, "missing keyword")
	}
	a.x = p.value()
	return a
}

// tableAlias takes an alias if there is one. Words that begin the next clause are not reserved in Oracle, but
// are no aliases here either.
func (p *parser) tableAlias() string {
	t := p.peek()
	if !isName(t) {
		return ""
	}
	if t.kind == tokIdent {
		switch t.text {
		case "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "USING", "FETCH", "OFFSET", "LOG",
			"RETURNING", "PARTITION", "SUBPARTITION", "SAMPLE", "VERSIONS", "WHEN", "MODEL":
			return ""
		}
	}
	p.i++
	return t.text
}

func (p *parser) orderItem() orderItem {
	o := orderItem{x: p.value()}
	if p.words("DESC") {
		o.desc = true
	} else {
		p.words("ASC")
	}
	o.nullsFirst = o.desc
	switch {
	case p.words("NULLS", "FIRST"):
		o.nullsFirst = true
	case p.words("NULLS", "LAST"):
		o.nullsFirst = false
	}
	return o
}

// rowLimit reads OFFSET n ROWS and FETCH FIRST n ROWS ONLY.
func (p *parser) rowLimit(s *selectStmt) {
	if p.words("OFFSET") {
		s.offset = p.value()
		if !p.words("ROWS") {
			p.need("ROW")
		}
	}
	if !p.words("FETCH") {
		return
	}
	if !p.words("FIRST") {
		p.need("NEXT")
	}
	s.fetch = intLiteral(p.peek().pos, 1)
	if !p.peek().isWord("ROW") && !p.peek().isWord("ROWS") {
		s.fetch = p.value()
	}
	if p.peek().isWord("PERCENT") {
		p.notYet("FETCH PERCENT")
	}
	if !p.words("ROWS") {
		p.need("ROW")
	}
	if p.words("WITH", "TIES") {
		s.ties = true
		return
	}
	p.need("ONLY")
}

func (p *parser) lockClause() *lockClause {
	if p.peek().isWord("OF") || p.peek().isWord("SKIP") {
		p.notYet("FOR UPDATE " + p.peek().text)
	}
	switch {
	case p.words("NOWAIT"):
		return &lockClause{wait: intLiteral(p.peek().pos, 0)}
	case p.words("WAIT"):
		return &lockClause{wait: p.value()}
	}
	return &lockClause{}
}
