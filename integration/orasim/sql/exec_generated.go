package sql

import (
	"fmt"

	"github.com/loadctl/loadctl/integration/orasim/generate"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// generatorDef is ORGANIZATION GENERATOR (ROWS n [SEED n] [COLUMNS 10 | 16]), which no Oracle has.
type generatorDef struct {
	rows, seed int
	columns    int // of a ready-made mix; 0: those of the statement
}

// generator reads (ROWS n [SEED n] [COLUMNS n]).
func (p *parser) generator() *generatorDef {
	g := &generatorDef{rows: -1}
	p.open()
	for !p.symbol(")") {
		switch {
		case p.words("ROWS"):
			g.rows = p.integer()
		case p.words("SEED"):
			g.seed = p.integer()
		case p.words("COLUMNS"):
			g.columns = p.integer()
		default:
			p.fail(905, "missing keyword")
		}
	}
	if g.rows < 0 {
		p.fail(905, "missing keyword")
	}
	return g
}

// generator makes the table of a CREATE TABLE ... ORGANIZATION GENERATOR.
func (o *object) generator(g *generatorDef, pos int) (*generate.Table, error) {
	var made *generate.Table
	var err error
	switch {
	case g.columns == 10 && len(o.columns) == 0:
		made, err = generate.Ten(int64(g.rows), uint64(g.seed))
	case g.columns == 16 && len(o.columns) == 0:
		made, err = generate.Sixteen(int64(g.rows), uint64(g.seed))
	case g.columns != 0:
		return nil, errAt(pos, 922, "missing or invalid option: COLUMNS is 10 or 16, and then there is no list of columns")
	default:
		made, err = generatedColumns(o.columns, g, pos)
	}
	if err != nil {
		return nil, asOra(err)
	}
	return made, nil
}

func generatedColumns(columns []column, g *generatorDef, pos int) (*generate.Table, error) {
	var list []generate.Column
	keyed := false
	for _, c := range describe(columns) {
		key := !keyed && c.Type.Code == ora.Number && !c.Nullable
		keyed = keyed || key
		col, ok := generate.Default(c, key)
		if !ok {
			return nil, errAt(pos, 3001, "unimplemented feature: generated column %s of this type", c.Name)
		}
		list = append(list, col)
	}
	return generate.New(int64(g.rows), uint64(g.seed), list)
}

// adopt gives an object the columns of a generator table.
func (o *object) adopt(made *generate.Table) {
	o.made = made
	if len(o.columns) > 0 {
		return
	}
	for _, c := range made.Columns() {
		o.columns = append(o.columns, column{name: c.Name, typ: c.Type, notNull: !c.Nullable})
	}
}

// AddGenerator creates a generator table whose columns SQL cannot describe. Its first sequence, if it has one,
// is the primary key.
func (d *Database) AddGenerator(owner, name string, made *generate.Table) error {
	return d.change(func(c *catalog) error {
		n := objectName{owner, name}
		if _, ok := c.users[owner]; !ok {
			return fmt.Errorf("add generator table %s.%s: no such user", owner, name)
		}
		if c.objects[n] != nil {
			return fmt.Errorf("add generator table %s.%s: the name is taken", owner, name)
		}
		o := &object{objectName: n, kind: kindTable}
		o.adopt(made)
		return d.addGenerator(c, o)
	})
}

// addGenerator enters a generator table into the catalog.
func (d *Database) addGenerator(c *catalog, o *object) error {
	o.table = d.store.CreateTable(store.Name{Owner: o.owner, Table: o.name}, describe(o.columns))
	c.add(o, d.cfg.Now())
	k := o.made.Key()
	if k < 0 {
		return nil
	}
	column := o.columns[k].name
	pk := constraint{name: c.systemName(), typ: "P", columns: []string{column}}
	o.constraints = append(o.constraints, pk)
	c.add(&object{objectName: objectName{o.owner, pk.name}, kind: kindIndex, target: o.objectName, keys: pk.columns, unique: true}, d.cfg.Now())
	return nil
}

// notGenerated refuses changes of a table that is computed.
func (o *object) notGenerated() error {
	if o.made != nil {
		return ora.Errorf(30657, "operation not supported on external organized table")
	}
	return nil
}

// blocks is how many blocks the rows fill.
func (o *object) blocks() int {
	if o.made == nil {
		return o.table.Blocks()
	}
	n := o.table.RowsPerBlock()
	return int((o.made.Rows() + int64(n) - 1) / int64(n))
}

// createGenerator finishes a CREATE TABLE of a generator table. Keys may be declared on its sequence only.
func (s *Session) createGenerator(c *catalog, o *object, t *createTable, keys []constraintDef) error {
	for _, k := range keys {
		columns, err := o.positions(k.columns, k.at())
		if err != nil {
			return err
		}
		for _, at := range columns {
			o.columns[at].notNull = true
		}
	}
	made, err := o.generator(t.generator, t.name.at())
	if err != nil {
		return err
	}
	o.adopt(made)
	for _, k := range keys {
		if columns, _ := o.positions(k.columns, k.at()); len(columns) != 1 || columns[0] != made.Key() {
			return errAt(k.at(), 3001, "unimplemented feature: a key of a generator table on other columns than its first NUMBER NOT NULL")
		}
	}
	return s.db.addGenerator(c, o)
}
