package sql

import (
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// statement reads any statement by its first word.
func (p *parser) statement() *statement {
	t := p.peek()
	if t.isSymbol("(") && p.startsQuery() {
		return &statement{kind: ora.KindSelect, body: p.query()}
	}
	switch t.text {
	case "SELECT", "WITH":
		return &statement{kind: ora.KindSelect, body: p.query()}
	case "INSERT":
		return &statement{kind: ora.KindInsert, body: p.insert()}
	case "UPDATE":
		return &statement{kind: ora.KindUpdate, body: p.update()}
	case "DELETE":
		return &statement{kind: ora.KindDelete, body: p.delete()}
	case "BEGIN", "DECLARE":
		return &statement{kind: ora.KindPLSQL, body: p.block()}
	}
	if body := p.otherStatement(t); body != nil {
		return &statement{kind: ora.KindOther, body: body}
	}
	return nil
}

func (p *parser) otherStatement(t token) any {
	switch t.text {
	case "CREATE":
		return p.create()
	case "DROP":
		return p.drop()
	case "ALTER":
		return p.alter()
	case "TRUNCATE":
		p.i++
		p.need("TABLE")
		n := p.qualifiedName()
		if p.words("DROP") || p.words("REUSE") {
			p.need("STORAGE")
		}
		return &truncateTable{n}
	case "GRANT", "REVOKE":
		return p.grant()
	case "COMMIT":
		p.i++
		p.words("WORK")
		return &commitStmt{}
	case "ROLLBACK":
		p.i++
		p.words("WORK")
		if p.words("TO") {
			p.words("SAVEPOINT")
			return &rollbackTo{p.columnName()}
		}
		return &rollbackTo{}
	case "SAVEPOINT":
		p.i++
		return &savepoint{p.columnName()}
	case "SET":
		return p.setTransaction()
	case "LOCK":
		p.i++
		p.need("TABLE")
		p.notYet("LOCK TABLE")
	case "MERGE", "EXPLAIN", "CALL", "ANALYZE", "COMMENT", "RENAME", "FLASHBACK", "PURGE", "AUDIT":
		p.notYet(t.text)
	}
	p.fail(900, "invalid SQL statement")
	return nil
}

// setTransaction accepts READ WRITE and ISOLATION LEVEL READ COMMITTED, which is how everything runs; the
// others would change what a reader sees and are refused.
func (p *parser) setTransaction() any {
	p.i++
	if p.words("ROLE", "ALL") || p.words("ROLE", "NONE") {
		return &nothing{}
	}
	p.need("TRANSACTION")
	if p.words("READ", "WRITE") || p.words("ISOLATION", "LEVEL", "READ", "COMMITTED") {
		return &nothing{}
	}
	p.notYet("SET TRANSACTION " + p.peek().text)
	return nil
}

func (p *parser) insert() *insertStmt {
	p.i++
	if t := p.peek(); t.isWord("ALL") || t.isWord("FIRST") {
		p.notYet("INSERT " + t.text)
	}
	p.need("INTO")
	s := &insertStmt{target: p.dmlTarget()}
	if p.peek().isSymbol("(") && !p.startsQuery() {
		p.i++
		for {
			s.at = append(s.at, p.peek().pos)
			s.columns = append(s.columns, p.columnName())
			if !p.symbol(",") {
				break
			}
		}
		p.close()
	}
	if p.words("VALUES") {
		p.open()
		s.values = append(s.values, p.insertValue())
		for p.symbol(",") {
			s.values = append(s.values, p.insertValue())
		}
		p.close()
	} else {
		if !p.startsQuery() {
			p.fail(926, "missing VALUES keyword")
		}
		s.sel = p.query()
	}
	p.noReturning()
	return s
}

// insertValue reads an expression; nil is DEFAULT.
func (p *parser) insertValue() node {
	if p.words("DEFAULT") {
		return nil
	}
	return p.value()
}

func (p *parser) noReturning() {
	if t := p.peek(); t.isWord("RETURNING") || t.isWord("RETURN") || t.isWord("LOG") {
		p.notYet(t.text)
	}
}

func (p *parser) dmlTarget() *tableRef {
	if p.peek().isSymbol("(") {
		p.notYet("DML on a query")
	}
	q := p.qualifiedName()
	ref := &tableRef{loc: q.loc, schema: q.schema, name: q.name}
	p.noMore()
	ref.alias = p.tableAlias()
	return ref
}

func (p *parser) update() *updateStmt {
	p.i++
	s := &updateStmt{target: p.dmlTarget()}
	if !p.words("SET") {
		p.fail(971, "missing SET keyword")
	}
	for {
		s.sets = append(s.sets, p.assignment())
		if !p.symbol(",") {
			break
		}
	}
	if p.words("WHERE") {
		s.where = p.expr()
	}
	p.noReturning()
	return s
}

func (p *parser) assignment() assignment {
	if p.peek().isSymbol("(") {
		p.notYet("SET (columns) = (query)")
	}
	a := assignment{loc: loc(p.peek().pos)}
	a.column = p.columnName()
	if p.symbol(".") {
		a.column = p.columnName()
	}
	if !p.symbol("=") {
		p.fail(927, "missing equal sign")
	}
	a.x = p.insertValue()
	return a
}

func (p *parser) delete() *deleteStmt {
	p.i++
	p.words("FROM")
	s := &deleteStmt{target: p.dmlTarget()}
	if p.words("WHERE") {
		s.where = p.expr()
	}
	p.noReturning()
	return s
}

func (p *parser) grant() any {
	g := &grantStmt{revoke: p.next().text == "REVOKE"}
	for {
		g.privileges = append(g.privileges, p.privilege())
		if !p.symbol(",") {
			break
		}
	}
	if p.words("ON") {
		q := p.qualifiedName()
		g.on = &q
	}
	if g.revoke {
		p.need("FROM")
	} else {
		p.need("TO")
	}
	for {
		if p.words("PUBLIC") {
			g.grantees = append(g.grantees, public)
		} else {
			g.grantees = append(g.grantees, p.name(987, "missing or invalid username(s)"))
		}
		if !p.symbol(",") {
			break
		}
	}
	if p.words("WITH") {
		if !p.words("GRANT") && !p.words("ADMIN") {
			p.fail(905, "missing keyword")
		}
		p.need("OPTION")
		g.option = true
	}
	return g
}

// privilege reads the words of one privilege or role.
func (p *parser) privilege() string {
	var ws []string
	for {
		t := p.peek()
		if t.kind != tokIdent && t.kind != tokQuoted || t.isWord("ON") || t.isWord("TO") || t.isWord("FROM") {
			break
		}
		ws = append(ws, p.next().text)
	}
	if len(ws) == 0 {
		p.fail(990, "missing or invalid privilege")
	}
	if p.peek().isSymbol("(") {
		p.notYet("privileges on columns")
	}
	return strings.Join(ws, " ")
}

// block reads BEGIN call; call; END; with calls of packaged procedures only.
func (p *parser) block() *block {
	b := &block{loc: loc(p.peek().pos)}
	if p.peek().isWord("DECLARE") {
		p.noBlock()
	}
	p.i++
	for !p.words("END") {
		if p.words("NULL") {
			p.needSemicolon()
			continue
		}
		b.calls = append(b.calls, p.procedure())
		p.needSemicolon()
	}
	p.symbol(";")
	return b
}

func (p *parser) noBlock() {
	t := p.peek()
	line := 1 + strings.Count(p.src[:t.pos], "\n")
	column := t.pos - strings.LastIndexByte(p.src[:t.pos], '\n')
	p.fail(6550, "line %d, column %d:\nPLS-00103: Encountered the symbol %q: only calls of known packages are supported", line, column, t.text)
}

func (p *parser) needSemicolon() {
	if !p.symbol(";") {
		p.noBlock()
	}
}

func (p *parser) procedure() procedureCall {
	t := p.peek()
	if !isName(t) {
		p.noBlock()
	}
	c := procedureCall{loc: loc(t.pos)}
	parts := []string{p.next().text}
	for p.symbol(".") {
		parts = append(parts, p.columnName())
	}
	c.name = strings.Join(parts, ".")
	if !p.symbol("(") {
		if p.peek().isSymbol(":=") {
			p.noBlock()
		}
		return c
	}
	for !p.symbol(")") {
		var a argument
		if isName(p.peek()) && p.peekAt(1).isSymbol("=>") {
			a.name = p.next().text
			p.i++
		}
		a.x = p.value()
		c.args = append(c.args, a)
		if !p.symbol(",") && !p.peek().isSymbol(")") {
			p.noBlock()
		}
	}
	return c
}
