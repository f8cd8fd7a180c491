package sql

import (
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Limits that keep any text from exhausting the parser.
const (
	maxDepth = 250   // nesting of expressions and queries
	maxChain = 5_000 // operators in one chain such as a+b+c
)

// parser reads one statement. It is a plain recursive descent over the tokens.
type parser struct {
	src    string
	tokens []token
	i      int
	depth  int
	binds  []string
}

// parse reads a statement, which may end in a semicolon only if it is a PL/SQL block.
func parse(src string) (st *statement, err error) {
	tokens, err := tokenise(src)
	if err != nil {
		return nil, err
	}
	p := &parser{src: src, tokens: tokens}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(syntaxError)
			if !ok {
				panic(r)
			}
			st, err = nil, e.Error
		}
	}()
	st = p.statement()
	st.binds = p.binds
	if p.peek().kind != tokEnd {
		p.fail(933, "SQL command not properly ended")
	}
	return st, nil
}

// syntaxError travels up by panic, from any depth of the descent to parse and no further.
type syntaxError struct{ *ora.Error }

// fail raises an error at the current token.
func (p *parser) fail(code int, format string, args ...any) {
	p.failAt(p.peek().pos, code, format, args...)
}

func (p *parser) failAt(pos, code int, format string, args ...any) {
	panic(syntaxError{errAt(pos, code, format, args...)})
}

// notYet raises ORA-03001 for what Oracle knows and this engine does not.
func (p *parser) notYet(what string) {
	p.fail(3001, "unimplemented feature: %s", what)
}

// enter counts a level of nesting; use: defer p.enter()().
func (p *parser) enter() func() {
	if p.depth++; p.depth > maxDepth {
		p.fail(3001, "unimplemented feature: nested deeper than %d levels", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) peek() token { return p.tokens[p.i] }

// peekAt looks n tokens ahead.
func (p *parser) peekAt(n int) token { return p.tokens[min(p.i+n, len(p.tokens)-1)] }

func (p *parser) next() token {
	t := p.tokens[p.i]
	if t.kind != tokEnd {
		p.i++
	}
	return t
}

func (t token) isWord(w string) bool { return t.kind == tokIdent && t.text == w }

func (t token) isSymbol(s string) bool { return t.kind == tokSymbol && t.text == s }

// words says whether the next tokens are these unquoted words, and takes them if so.
func (p *parser) words(ws ...string) bool {
	for i, w := range ws {
		if !p.peekAt(i).isWord(w) {
			return false
		}
	}
	p.i += len(ws)
	return true
}

// symbol takes a symbol if it is next.
func (p *parser) symbol(s string) bool {
	if p.peek().isSymbol(s) {
		p.i++
		return true
	}
	return false
}

// need takes words or fails with ORA-00905.
func (p *parser) need(ws ...string) {
	for _, w := range ws {
		if !p.words(w) {
			p.fail(905, "missing keyword")
		}
	}
}

func (p *parser) open() {
	if !p.symbol("(") {
		p.fail(906, "missing left parenthesis")
	}
}

func (p *parser) close() {
	if !p.symbol(")") {
		p.fail(907, "missing right parenthesis")
	}
}

// isName says whether a token can be a name: any quoted one, an unquoted one that is not reserved.
func isName(t token) bool {
	return t.kind == tokQuoted || t.kind == tokIdent && !isReserved(t.text)
}

// name takes an identifier or fails with a code of the caller's (ORA-00904 for columns, 00903 for tables).
func (p *parser) name(code int, text string) string {
	t := p.peek()
	if !isName(t) {
		p.fail(code, "%s", text)
	}
	p.i++
	return t.text
}

func (p *parser) columnName() string { return p.name(904, "invalid identifier") }

// qualifiedName takes [schema.]name; a database link is refused.
func (p *parser) qualifiedName() qualified {
	q := qualified{loc: loc(p.peek().pos)}
	q.name = p.name(903, "invalid table name")
	if p.symbol(".") {
		q.schema = q.name
		q.name = p.name(903, "invalid table name")
	}
	if p.peek().isSymbol("@") {
		p.fail(2019, "connection description for remote database not found")
	}
	return q
}

// names takes (a, b, c).
func (p *parser) names() []string {
	p.open()
	list := []string{p.columnName()}
	for p.symbol(",") {
		list = append(list, p.columnName())
	}
	p.close()
	return list
}

// isReserved says whether an unquoted word can never be a name.
func isReserved(w string) bool {
	switch w {
	case "ACCESS", "ADD", "ALL", "ALTER", "AND", "ANY", "AS", "ASC", "AUDIT", "BETWEEN", "BY", "CHAR", "CHECK",
		"CLUSTER", "COLUMN", "COMMENT", "COMPRESS", "CONNECT", "CREATE", "CURRENT", "DATE", "DECIMAL", "DEFAULT",
		"DELETE", "DESC", "DISTINCT", "DROP", "ELSE", "EXCLUSIVE", "EXISTS", "FILE", "FLOAT", "FOR", "FROM",
		"GRANT", "GROUP", "HAVING", "IDENTIFIED", "IMMEDIATE", "IN", "INCREMENT", "INDEX", "INITIAL", "INSERT",
		"INTEGER", "INTERSECT", "INTO", "IS", "LEVEL", "LIKE", "LOCK", "LONG", "MAXEXTENTS", "MINUS", "MLSLABEL",
		"MODE", "MODIFY", "NOAUDIT", "NOCOMPRESS", "NOT", "NOWAIT", "NULL", "NUMBER", "OF", "OFFLINE", "ON",
		"ONLINE", "OPTION", "OR", "ORDER", "PCTFREE", "PRIOR", "PUBLIC", "RAW", "RENAME", "RESOURCE", "REVOKE",
		"ROW", "ROWID", "ROWNUM", "ROWS", "SELECT", "SESSION", "SET", "SHARE", "SIZE", "SMALLINT", "START",
		"SUCCESSFUL", "SYNONYM", "SYSDATE", "TABLE", "THEN", "TO", "TRIGGER", "UID", "UNION", "UNIQUE", "UPDATE",
		"USER", "VALIDATE", "VALUES", "VARCHAR", "VARCHAR2", "VIEW", "WHENEVER", "WHERE", "WITH":
		return true
	}
	return false
}
