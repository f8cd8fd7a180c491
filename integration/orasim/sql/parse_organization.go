package sql

import "github.com/loadctl/loadctl/integration/orasim/ora"

// organization reads what follows ORGANIZATION.
func (p *parser) organization(t *createTable) {
	switch {
	case p.words("HEAP"):
	case p.words("GENERATOR"):
		t.generator = p.generator()
	case p.words("INDEX"):
		t.organization = "INDEX"
		for p.words("MAPPING", "TABLE") || p.words("OVERFLOW") || p.including() {
			p.physical()
		}
	case p.words("EXTERNAL"):
		t.organization = "EXTERNAL"
		if p.peek().isSymbol("(") {
			p.skipParentheses()
		}
		if p.words("REJECT", "LIMIT") {
			p.next()
		}
	default:
		p.i--
		p.notYet("table with ORGANIZATION")
	}
}

// including reads INCLUDING column and PCTTHRESHOLD n of an index-organized table.
func (p *parser) including() bool {
	switch {
	case p.words("INCLUDING"):
		p.columnName()
	case p.words("PCTTHRESHOLD"):
		p.integer()
	default:
		return false
	}
	return true
}

// skipParentheses skips a list in parentheses, whatever is in it.
func (p *parser) skipParentheses() {
	p.open()
	for depth := 1; depth > 0; {
		switch t := p.next(); {
		case t.kind == tokEnd:
			p.fail(907, "missing right parenthesis")
		case t.isSymbol("("):
			depth++
		case t.isSymbol(")"):
			depth--
		}
	}
}

// storage skips how LOBs, nested tables and the like are stored.
func (p *parser) storage() bool {
	switch {
	case p.peek().isWord("LOB") && p.peekAt(1).isSymbol("("):
		p.i++
		p.skipParentheses()
		p.need("STORE", "AS")
		p.storageName()
	case p.words("NESTED", "TABLE"), p.words("VARRAY"):
		p.columnName()
		p.need("STORE", "AS")
		p.words("LOB")
		p.storageName()
	case p.words("COLUMN"), p.words("XMLTYPE"):
		p.words("XMLTYPE")
		if isName(p.peek()) && !p.peek().isWord("STORE") {
			p.columnName()
		}
		p.need("STORE", "AS")
		p.storageName()
	default:
		return false
	}
	return true
}

func (p *parser) storageName() {
	for p.words("BASICFILE") || p.words("SECUREFILE") || p.words("BINARY", "XML") || p.words("CLOB") || p.words("OBJECT", "RELATIONAL") {
	}
	if t := p.peek(); isName(t) && !t.isWord("LOB") && !t.isWord("TABLESPACE") && !t.isWord("PARTITION") {
		p.columnName()
	}
	if p.peek().isSymbol("(") {
		p.skipParentheses()
	}
}

// temporary reads CREATE GLOBAL TEMPORARY TABLE, from the name on.
func (p *parser) temporary() any {
	t := p.createTable().(*createTable)
	t.organization, t.duration = "TEMPORARY", "SYS$TRANSACTION"
	if p.words("ON", "COMMIT", "PRESERVE", "ROWS") {
		t.duration = "SYS$SESSION"
	} else {
		p.words("ON", "COMMIT", "DELETE", "ROWS")
	}
	return t
}

// createType is CREATE TYPE; only an object's attributes are known.
type createType struct {
	name       qualified
	replace    bool
	attributes []columnDef
	collection bool
}

func (p *parser) createType(replace bool) any {
	t := &createType{name: p.qualifiedName(), replace: replace}
	if !p.words("AS") {
		p.need("IS")
	}
	switch {
	case p.words("OBJECT"):
		t.attributes = p.columnDefs(false)
	case p.words("TABLE", "OF"):
		t.collection = true
		p.dataType()
	case p.words("VARRAY"):
		t.collection = true
		p.skipParentheses()
		p.need("OF")
		p.dataType()
	default:
		p.notYet("TYPE " + p.peek().text)
	}
	p.words("NOT", "FINAL")
	p.words("FINAL")
	return t
}

// foreignType is a type that tables may have but whose values are not known here: those of SYS and MDSYS, and
// the users' own. It is named, not described.
func (p *parser) foreignType(c *columnDef) bool {
	t := p.peek()
	if t.kind != tokIdent && t.kind != tokQuoted || t.kind == tokIdent && isReserved(t.text) {
		return false
	}
	owner, known := foreignOwners()[t.text]
	switch {
	case t.kind == tokIdent && (builtinType(t.text) || t.text == "GENERATED" || t.text == "INVISIBLE" || t.text == "VISIBLE"):
		return false
	case known:
		p.i++
		c.foreign = qualified{loc: loc(t.pos), schema: owner, name: t.text}
	default:
		c.foreign = p.qualifiedName()
	}
	c.typ, c.typed = ora.Type{Code: ora.Object, Bytes: 2000}, true
	if c.foreign.name == "BFILE" {
		c.typ = ora.Type{Code: ora.Bfile, Bytes: 530}
	}
	return true
}

// foreignOwners are the types of Oracle's own schemas.
func foreignOwners() map[string]string {
	return map[string]string{"XMLTYPE": "SYS", "URITYPE": "SYS", "HTTPURITYPE": "SYS", "ANYDATA": "SYS", "SDO_GEOMETRY": "MDSYS", "BFILE": ""}
}

// builtinType says whether a word begins a type that dataType reads.
func builtinType(w string) bool {
	switch w {
	case "NUMBER", "DECIMAL", "NUMERIC", "DEC", "INTEGER", "INT", "SMALLINT", "FLOAT", "REAL", "DOUBLE", "BINARY_FLOAT",
		"BINARY_DOUBLE", "DATE", "TIMESTAMP", "INTERVAL", "RAW", "CLOB", "NCLOB", "BLOB", "LONG", "ROWID", "UROWID",
		"VARCHAR2", "VARCHAR", "CHAR", "CHARACTER", "NATIONAL", "NVARCHAR2", "NCHAR", "JSON":
		return true
	}
	return false
}

// generatedColumn reads [GENERATED ALWAYS] AS (x) [VIRTUAL] and GENERATED ... AS IDENTITY.
func (p *parser) generatedColumn(c *columnDef) bool {
	start := p.i
	always := p.words("GENERATED", "ALWAYS")
	byDefault := !always && p.words("GENERATED", "BY", "DEFAULT")
	if byDefault && p.words("ON", "NULL") {
		c.onNull = true
	}
	if !p.words("AS") {
		p.i = start
		return false
	}
	if p.words("IDENTITY") {
		c.identity = "ALWAYS"
		if byDefault {
			c.identity = "BY DEFAULT"
		}
		c.start = 1
		p.identityOptions(c)
		no := false
		c.null = &no
		return true
	}
	p.open()
	from := p.peek().pos
	c.virtual = true
	c.byDefault = p.value()
	c.defaultText = p.src[from:p.tokens[p.i-1].end]
	p.close()
	p.words("VIRTUAL")
	return true
}

func (p *parser) identityOptions(c *columnDef) {
	inside := p.symbol("(")
	for {
		switch {
		case p.words("START", "WITH"):
			c.start = p.integer()
		case p.words("INCREMENT", "BY"):
			if p.integer() != 1 {
				p.i--
				p.notYet("IDENTITY with an increment")
			}
		case p.words("CACHE"), p.words("MINVALUE"), p.words("MAXVALUE"):
			p.next()
		case p.words("NOCACHE"), p.words("ORDER"), p.words("NOORDER"), p.words("NOCYCLE"):
		default:
			if inside {
				p.close()
			}
			return
		}
	}
}
