package sql

import (
	"strconv"
	"strings"
)

func (p *parser) create() any {
	p.i++
	replace := p.words("OR", "REPLACE")
	for p.words("FORCE") || p.words("NOFORCE") || p.words("EDITIONABLE") || p.words("NONEDITIONABLE") {
	}
	switch {
	case p.words("TABLE"):
		return p.createTable()
	case p.words("GLOBAL", "TEMPORARY", "TABLE"):
		return p.temporary()
	case p.words("TYPE"):
		return p.createType(replace)
	case p.words("VIEW"):
		return p.createView(replace)
	case p.words("UNIQUE", "INDEX"):
		return p.createIndex(true)
	case p.words("INDEX"):
		return p.createIndex(false)
	case p.words("PUBLIC", "SYNONYM"):
		return p.createSynonym(true, replace)
	case p.words("SYNONYM"):
		return p.createSynonym(false, replace)
	case p.words("USER"):
		return p.user(false)
	}
	if t := p.peek(); t.kind == tokIdent {
		p.notYet("CREATE " + t.text)
	}
	p.fail(901, "invalid CREATE command")
	return nil
}

func (p *parser) createTable() any {
	s := &createTable{name: p.qualifiedName()}
	if p.words("OF") {
		t := p.qualifiedName()
		s.of = &t
	}
	if p.peek().isSymbol("(") {
		p.i++
		for {
			if c, ok := p.tableConstraint(); ok {
				s.constraints = append(s.constraints, c)
			} else {
				s.columns = append(s.columns, p.columnDef(false))
			}
			if !p.symbol(",") {
				break
			}
		}
		p.close()
	}
	for p.physical(); p.storage(); {
		p.physical()
	}
	if p.words("ORGANIZATION") {
		p.organization(s)
		p.physical()
	}
	s.partitions = p.partitioning()
	for p.storage() {
		p.physical()
	}
	if p.words("ENABLE", "ROW", "MOVEMENT") {
		s.rowMovement = true
	}
	if p.words("AS") {
		s.as = p.query()
	} else if len(s.columns) == 0 && s.generator == nil && s.of == nil {
		p.fail(906, "missing left parenthesis")
	}
	return s
}

// physical skips storage attributes that do not change what a query sees.
func (p *parser) physical() {
	for {
		switch {
		case p.words("SEGMENT", "CREATION", "IMMEDIATE"), p.words("SEGMENT", "CREATION", "DEFERRED"), p.words("NOLOGGING"),
			p.words("LOGGING"), p.words("NOCOMPRESS"), p.words("NOCACHE"), p.words("NOPARALLEL"), p.words("ROW", "MOVEMENT"):
		case p.words("TABLESPACE"):
			p.columnName()
		case p.words("PCTFREE"), p.words("PCTUSED"), p.words("INITRANS"), p.words("MAXTRANS"):
			p.integer()
		default:
			switch t := p.peek(); t.text {
			case "ROW", "CLUSTER", "COMPRESS", "STORAGE", "PARALLEL", "CACHE", "ILM":
				if t.kind == tokIdent {
					p.notYet("table with " + t.text)
				}
			}
			return
		}
	}
}

func (p *parser) tableConstraint() (constraintDef, bool) {
	c := constraintDef{loc: loc(p.peek().pos)}
	if p.words("CONSTRAINT") {
		c.name = p.columnName()
	}
	switch {
	case p.words("PRIMARY", "KEY"):
		c.typ = "P"
	case p.words("UNIQUE"):
		c.typ = "U"
	case p.peek().isWord("FOREIGN") || p.peek().isWord("CHECK") && p.peekAt(1).isSymbol("("):
		p.notYet(p.peek().text + " constraint")
	default:
		if c.name != "" {
			p.fail(904, "invalid identifier")
		}
		return c, false
	}
	c.columns = p.names()
	p.constraintState()
	return c, true
}

// constraintState accepts the states that mean "checked at once".
func (p *parser) constraintState() {
	for p.words("ENABLE") || p.words("VALIDATE") || p.words("NOT", "DEFERRABLE") || p.words("INITIALLY", "IMMEDIATE") {
	}
	if t := p.peek(); t.isWord("DISABLE") || t.isWord("DEFERRABLE") || t.isWord("NOVALIDATE") || t.isWord("USING") || t.isWord("RELY") {
		p.notYet(t.text + " constraint")
	}
}

// columnDef reads a column; in ALTER TABLE MODIFY the type may be left out.
func (p *parser) columnDef(modify bool) columnDef {
	c := columnDef{loc: loc(p.peek().pos)}
	c.name = p.columnName()
	if t := p.peek(); !(modify || t.isSymbol(",") || t.isSymbol(")")) || t.kind == tokIdent && startsType(t.text) {
		if !p.generatedColumn(&c) && !p.foreignType(&c) && !t.isWord("INVISIBLE") && !t.isWord("VISIBLE") {
			c.typ, c.typed = p.dataType(), true
		}
	}
	for p.columnAttribute(&c) {
	}
	return c
}

// startsType says whether a word after a column's name in MODIFY begins a type.
func startsType(w string) bool {
	switch w {
	case "NOT", "NULL", "DEFAULT", "CONSTRAINT", "PRIMARY", "UNIQUE":
		return false
	}
	return true
}

// columnAttribute reads one of DEFAULT, NULL, NOT NULL, PRIMARY KEY, UNIQUE.
func (p *parser) columnAttribute(c *columnDef) bool {
	yes, no := true, false
	switch {
	case p.words("INVISIBLE"):
		c.visible = &no
		return true
	case p.words("VISIBLE"):
		c.visible = &yes
		return true
	case p.generatedColumn(c):
		return true
	}
	if t := p.peek(); t.isWord("CHECK") || t.isWord("REFERENCES") || t.isWord("ENCRYPT") || t.isWord("COLLATE") {
		p.notYet(t.text + " column")
	}
	if p.words("DEFAULT") {
		c.onNull = p.words("ON", "NULL")
		start := p.peek().pos
		c.byDefault = p.value()
		c.defaultText = strings.TrimSpace(p.src[start:p.tokens[p.i-1].end])
		return true
	}
	name := ""
	pos := p.peek().pos
	if p.words("CONSTRAINT") {
		name = p.columnName()
	}
	switch {
	case p.words("NOT", "NULL"):
		c.null = &no
		if name != "" {
			c.constraints = append(c.constraints, constraintDef{loc(pos), name, "C", []string{c.name}})
		}
	case p.words("NULL"):
		c.null = &yes
	case p.words("PRIMARY", "KEY"):
		c.constraints = append(c.constraints, constraintDef{loc(pos), name, "P", []string{c.name}})
	case p.words("UNIQUE"):
		c.constraints = append(c.constraints, constraintDef{loc(pos), name, "U", []string{c.name}})
	default:
		if name != "" {
			p.notYet("constraint " + p.peek().text)
		}
		return false
	}
	p.constraintState()
	return true
}

func (p *parser) createView(replace bool) any {
	v := &createView{name: p.qualifiedName(), replace: replace}
	if p.peek().isSymbol("(") {
		v.columns = p.names()
	}
	p.need("AS")
	start := p.peek().pos
	v.sel = p.query()
	v.text = p.src[start:p.tokens[p.i-1].end]
	if p.words("WITH") {
		if !p.words("READ", "ONLY") {
			p.notYet("WITH CHECK OPTION")
		}
	}
	if len(p.binds) > 0 {
		p.failAt(start, 1027, "bind variables not allowed for data definition operations")
	}
	return v
}

func (p *parser) createIndex(unique bool) any {
	x := &createIndex{name: p.qualifiedName(), unique: unique}
	p.need("ON")
	x.table = p.qualifiedName()
	p.open()
	for {
		x.columns = append(x.columns, p.columnName())
		if p.peek().isSymbol("(") {
			p.notYet("index on an expression")
		}
		if !p.words("ASC") {
			p.words("DESC")
		}
		if !p.symbol(",") {
			break
		}
	}
	p.close()
	p.physical()
	return x
}

func (p *parser) createSynonym(public, replace bool) any {
	s := &createSynonym{name: p.qualifiedName(), public: public, replace: replace}
	p.need("FOR")
	s.target = p.qualifiedName()
	return s
}

// user reads CREATE or ALTER USER name [IDENTIFIED BY password] [ACCOUNT LOCK|UNLOCK] and skips quotas and
// tablespaces.
func (p *parser) user(alter bool) any {
	u := &createUser{alter: alter, name: p.name(1935, "missing user or role name")}
	if p.words("IDENTIFIED") {
		p.need("BY")
		t := p.next()
		if t.kind == tokEnd || t.kind == tokSymbol {
			p.failAt(t.pos, 988, "missing or invalid password(s)")
		}
		u.password = p.src[t.pos:t.end] // case matters, quoted or not
		if t.kind == tokQuoted {
			u.password = t.text
		}
	} else if !alter {
		p.fail(1935, "missing user or role name")
	}
	for p.userOption(u) {
	}
	return u
}

func (p *parser) userOption(u *createUser) bool {
	switch {
	case p.words("ACCOUNT"):
		lock := p.words("LOCK")
		if !lock {
			p.need("UNLOCK")
		}
		u.lock = &lock
	case p.words("DEFAULT", "TABLESPACE"), p.words("TEMPORARY", "TABLESPACE"), p.words("PROFILE"):
		p.next()
	case p.words("QUOTA"):
		for !p.words("ON") {
			if p.next().kind == tokEnd {
				p.fail(905, "missing keyword")
			}
		}
		p.columnName()
	case p.words("CONTAINER"):
		p.symbol("=")
		p.next()
	default:
		return false
	}
	return true
}

func (p *parser) drop() any {
	p.i++
	isPublic := p.words("PUBLIC")
	kind := p.next()
	d := &dropObject{}
	switch kind.text {
	case "TABLE":
		d.kind = kindTable
	case "VIEW":
		d.kind = kindView
	case "SYNONYM":
		d.kind = kindSynonym
	case "INDEX":
		d.kind = kindIndex
	case "TYPE":
		d.kind = kindType
	case "USER":
		d.user = true
	default:
		p.i--
		p.notYet("DROP " + kind.text)
	}
	d.name = p.qualifiedName()
	if isPublic && d.kind == kindSynonym {
		d.name.schema = public
	}
	for p.words("PURGE") || p.words("CASCADE", "CONSTRAINTS") || p.words("CASCADE") || p.words("FORCE") {
	}
	return d
}

func (p *parser) alter() any {
	p.i++
	switch {
	case p.words("SESSION"):
		return p.alterSession()
	case p.words("TABLE"):
		return p.alterTable()
	case p.words("USER"):
		return p.user(true)
	case p.words("SYSTEM", "KILL", "SESSION"), p.words("SYSTEM", "DISCONNECT", "SESSION"):
		return p.killSession()
	}
	p.notYet("ALTER " + p.peek().text)
	return nil
}

func (p *parser) killSession() any {
	t := p.next()
	sid, serial, _ := strings.Cut(t.text, ",")
	a, err1 := strconv.ParseUint(strings.TrimSpace(sid), 10, 32)
	b, err2 := strconv.ParseUint(strings.TrimSpace(serial), 10, 32)
	if t.kind != tokString || err1 != nil || err2 != nil {
		p.failAt(t.pos, 26, "missing or invalid session ID")
	}
	for p.words("IMMEDIATE") || p.words("POST_TRANSACTION") {
	}
	return &killSession{uint32(a), uint32(b)}
}

// alterSession reads SET name = value ... and the ENABLE and DISABLE forms, which have no effect here.
func (p *parser) alterSession() any {
	s := &alterSession{}
	if t := p.peek(); t.isWord("ENABLE") || t.isWord("DISABLE") || t.isWord("FORCE") {
		for p.peek().kind == tokIdent {
			p.i++
		}
		return s
	}
	if !p.words("SET") {
		p.fail(2248, "invalid option for ALTER SESSION")
	}
	for p.peek().kind == tokIdent || p.peek().kind == tokQuoted {
		set := setting{loc: loc(p.peek().pos), name: p.next().text}
		if !p.symbol("=") {
			p.fail(927, "missing equal sign")
		}
		neg := p.symbol("-")
		t := p.next()
		if t.kind == tokEnd || t.kind == tokSymbol {
			p.failAt(t.pos, 2017, "integer value required")
		}
		set.value = t.text
		if neg {
			set.value = "-" + set.value
		}
		s.sets = append(s.sets, set)
	}
	if len(s.sets) == 0 {
		p.fail(2248, "invalid option for ALTER SESSION")
	}
	return s
}

func (p *parser) alterTable() any {
	a := &alterTable{name: p.qualifiedName()}
	if part := p.alterPartition(a.name); part != nil {
		return part
	}
	for p.peek().kind != tokEnd {
		switch {
		case p.words("ADD"):
			p.alterAdd(a)
		case p.words("MODIFY"):
			a.modify = append(a.modify, p.columnDefs(true)...)
		default:
			p.notYet("ALTER TABLE " + p.peek().text)
		}
	}
	return a
}

func (p *parser) alterAdd(a *alterTable) {
	if c, ok := p.tableConstraint(); ok {
		a.keys = append(a.keys, c)
		return
	}
	a.add = append(a.add, p.columnDefs(false)...)
}

// columnDefs reads one column definition, or several in parentheses.
func (p *parser) columnDefs(modify bool) []columnDef {
	if !p.symbol("(") {
		return []columnDef{p.columnDef(modify)}
	}
	list := []columnDef{p.columnDef(modify)}
	for p.symbol(",") {
		list = append(list, p.columnDef(modify))
	}
	p.close()
	return list
}
