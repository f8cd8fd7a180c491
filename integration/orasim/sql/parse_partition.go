package sql

// partitionBy is PARTITION BY or SUBPARTITION BY.
type partitionBy struct {
	loc
	kind    string // RANGE, LIST, HASH
	columns []string
	count   int // HASH: PARTITIONS n
	parts   []partitionDef
	sub     *partitionBy // how each partition is divided; its parts are the template
}

// partitionDef is one partition: its bound, and its subpartitions when it has its own.
type partitionDef struct {
	loc
	name   string // "": the system names it
	values []node // nil elements are MAXVALUE
	other  bool   // VALUES (DEFAULT)
	subs   []partitionDef
	count  int // SUBPARTITIONS n
}

// partitioning reads PARTITION BY ... of CREATE TABLE.
func (p *parser) partitioning() *partitionBy {
	if !p.words("PARTITION", "BY") {
		return nil
	}
	by := p.partitionKey()
	if p.peek().isWord("INTERVAL") {
		p.notYet("INTERVAL partitioning")
	}
	if p.words("SUBPARTITION", "BY") {
		by.sub = p.partitionKey()
		if p.words("SUBPARTITION", "TEMPLATE") {
			by.sub.parts = p.partitionDefs("SUBPARTITION", by.sub.kind)
		}
		if p.words("SUBPARTITIONS") {
			by.sub.count = p.integer()
		}
	}
	switch {
	case by.kind == "HASH" && p.words("PARTITIONS"):
		by.count = p.integer()
	case by.kind == "HASH" && !p.peek().isSymbol("("):
		by.count = 1
	default:
		by.parts = p.partitionDefs("PARTITION", by.kind)
	}
	return by
}

func (p *parser) partitionKey() *partitionBy {
	by := &partitionBy{loc: loc(p.peek().pos)}
	switch t := p.next(); t.text {
	case "RANGE", "LIST", "HASH":
		by.kind = t.text
	default:
		p.i--
		p.notYet("PARTITION BY " + t.text)
	}
	by.columns = p.names()
	return by
}

func (p *parser) partitionDefs(word, kind string) []partitionDef {
	p.open()
	list := []partitionDef{p.partitionDef(word, kind)}
	for p.symbol(",") {
		list = append(list, p.partitionDef(word, kind))
	}
	p.close()
	return list
}

func (p *parser) partitionDef(word, kind string) partitionDef {
	d := partitionDef{loc: loc(p.peek().pos)}
	p.need(word)
	if t := p.peek(); isName(t) && !t.isWord("VALUES") {
		d.name = p.columnName()
	}
	if kind != "HASH" {
		p.need("VALUES")
		if kind == "RANGE" {
			p.need("LESS", "THAN")
		}
		p.partitionValues(&d)
	}
	p.physical()
	switch {
	case word == "PARTITION" && p.words("SUBPARTITIONS"):
		d.count = p.integer()
	case word == "PARTITION" && p.peek().isSymbol("(") && p.peekAt(1).isWord("SUBPARTITION"):
		d.subs = p.subpartitions()
	}
	return d
}

// subpartitions reads a partition's own list, whose kind shows in how it begins.
func (p *parser) subpartitions() []partitionDef {
	kind := "HASH"
	for i := 1; i < 4; i++ {
		if p.peekAt(i).isWord("VALUES") {
			kind = "LIST"
			if p.peekAt(i + 1).isWord("LESS") {
				kind = "RANGE"
			}
		}
	}
	return p.partitionDefs("SUBPARTITION", kind)
}

func (p *parser) partitionValues(d *partitionDef) {
	p.open()
	for {
		switch {
		case p.words("DEFAULT"):
			d.other = true
		case p.words("MAXVALUE"):
			d.values = append(d.values, nil)
		default:
			d.values = append(d.values, p.value())
		}
		if !p.symbol(",") {
			break
		}
	}
	p.close()
}

// partitionRef names one partition of a table in a query.
type partitionRef struct {
	loc
	sub  bool // SUBPARTITION
	name string
}

// partitionRef reads PARTITION (name) or SUBPARTITION (name), if it is next.
func (p *parser) partitionRef() *partitionRef {
	t := p.peek()
	if !t.isWord("PARTITION") && !t.isWord("SUBPARTITION") || !p.peekAt(1).isSymbol("(") {
		return nil
	}
	p.i++
	r := &partitionRef{loc: loc(t.pos), sub: t.text == "SUBPARTITION"}
	p.open()
	r.name = p.columnName()
	p.close()
	return r
}

// alterPartition is TRUNCATE, DROP, ADD or EXCHANGE of a partition.
type alterPartition struct {
	table qualified
	verb  string
	ref   partitionRef
	def   partitionDef // ADD
	with  qualified    // EXCHANGE
}

// alterPartition reads the clauses of ALTER TABLE for partitions, if one is next.
func (p *parser) alterPartition(table qualified) *alterPartition {
	verb, what := p.peek(), p.peekAt(1)
	if !what.isWord("PARTITION") && !what.isWord("SUBPARTITION") {
		return nil
	}
	a := &alterPartition{table: table, verb: verb.text}
	sub := what.text == "SUBPARTITION"
	switch {
	case verb.isWord("ADD") && !sub:
		p.i++
		kind := "HASH"
		if p.peekAt(2).isWord("VALUES") || p.peekAt(1).isWord("VALUES") {
			kind = "LIST"
			if p.peekAt(3).isWord("LESS") || p.peekAt(2).isWord("LESS") {
				kind = "RANGE"
			}
		}
		a.def = p.partitionDef("PARTITION", kind)
		return a
	case verb.isWord("TRUNCATE"), verb.isWord("DROP"), verb.isWord("EXCHANGE"):
	default:
		return nil
	}
	p.i += 2
	a.ref = partitionRef{loc(p.peek().pos), sub, p.columnName()}
	if a.verb == "EXCHANGE" {
		p.need("WITH", "TABLE")
		a.with = p.qualifiedName()
	}
	for p.words("INCLUDING", "INDEXES") || p.words("EXCLUDING", "INDEXES") || p.words("WITHOUT", "VALIDATION") ||
		p.words("WITH", "VALIDATION") || p.words("UPDATE", "INDEXES") || p.words("UPDATE", "GLOBAL", "INDEXES") ||
		p.words("DROP", "STORAGE") || p.words("REUSE", "STORAGE") {
	}
	return a
}
