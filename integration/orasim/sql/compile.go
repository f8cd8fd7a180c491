package sql

import (
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// compiler turns parsed expressions and queries into closures. It resolves names in the catalog, which the
// caller holds locked, with the rights of user.
type compiler struct {
	db     *Database
	cat    *catalog
	ses    *Session
	user   string     // whose privileges count: the session's, or the owner of the view at hand
	schema string     // of unqualified names
	binds  []ora.Type // nil before the first execution: text is assumed
	named  map[string]*namedSource
	scope  *scope
	views  int // nesting of views

	noWindows bool // in the arguments of an aggregate or analytic function
}

// scope is the names that an expression sees.
type scope struct {
	tables    []*scopeTable // in the order of FROM
	outer     *scope
	aliases   map[string]node // ORDER BY: names of the select list
	groups    *grouping       // after grouping: what is left of a row
	windows   *windowPlan     // select list and ORDER BY: analytic functions go here
	pseudo    bool            // ROWNUM may be used
	hierarchy bool            // LEVEL may be used
	refs      int             // how often a query inside reads this scope's row
}

// scopeTable is one table, view or query in FROM.
type scopeTable struct {
	schema, name string // name is the alias if there is one
	columns      []ora.Column
	offset       int // of its first column in the joined row
	rowid        int // offset of its ROWID in its own row; -1: none
	rowidUsed    bool
	shown        []int // the columns of *; nil: all
}

// width is how many values of a joined row belong to the table.
func (t *scopeTable) width() int {
	if t.rowid >= 0 {
		return len(t.columns) + 1
	}
	return len(t.columns)
}

func (t *scopeTable) matches(parts []string) bool {
	switch len(parts) {
	case 0:
		return true
	case 1:
		return parts[0] == t.name
	}
	return parts[0] == t.schema && parts[1] == t.name
}

// find looks a column up in the tables of one scope: its position in the joined row, or -1.
func (s *scope) find(ref *columnRef) (at int, c ora.Column, err error) {
	at = -1
	table, name := ref.parts[:len(ref.parts)-1], ref.parts[len(ref.parts)-1]
	for _, t := range s.tables {
		if !t.matches(table) {
			continue
		}
		for i, col := range t.columns {
			if col.Name != name {
				continue
			}
			if at >= 0 {
				return -1, c, errAt(ref.at(), 918, "column ambiguously defined")
			}
			at, c = t.offset+i, col
		}
		if name == "ROWID" && t.rowid >= 0 {
			if at >= 0 {
				return -1, c, errAt(ref.at(), 918, "column ambiguously defined")
			}
			t.rowidUsed = true
			at, c = t.offset+t.rowid, ora.Column{Name: name, Type: rowidType()}
		}
	}
	return at, c, nil
}

// column compiles a name: a column of this query or one around it, a pseudo-column, or a function that needs
// no parentheses.
func (c *compiler) column(ref *columnRef) (expr, error) {
	if len(ref.parts) == 1 && c.scope != nil {
		if n, ok := c.scope.aliases[ref.parts[0]]; ok {
			return c.withoutAliases(n)
		}
	}
	depth := 0
	for s := c.scope; s != nil; s = s.outer {
		at, col, err := s.find(ref)
		if err != nil {
			return expr{}, err
		}
		if at >= 0 {
			return c.columnAt(ref, s, depth, at, col)
		}
		depth++
	}
	if e, ok, err := c.niladic(ref); ok || err != nil {
		return e, err
	}
	return expr{}, errAt(ref.at(), 904, "%s: invalid identifier", quotedPath(ref.parts))
}

// withoutAliases compiles an expression of the select list that ORDER BY names.
func (c *compiler) withoutAliases(n node) (expr, error) {
	aliases := c.scope.aliases
	c.scope.aliases = nil
	defer func() { c.scope.aliases = aliases }()
	return c.expr(n)
}

// outerRefs counts how often the rows of a scope and those around it are read from inside.
func outerRefs(s *scope) int {
	n := 0
	for ; s != nil; s = s.outer {
		n += s.refs
	}
	return n
}

// star compiles a column that * stands for.
func (c *compiler) star(n *starRef) (expr, error) {
	return c.columnAt(&columnRef{loc: n.loc}, c.scope, 0, n.table.offset+n.column, n.table.columns[n.column])
}

func quotedPath(parts []string) string {
	return `"` + strings.Join(parts, `"."`) + `"`
}

// columnAt is the column at a position of the row of a scope some levels up.
func (c *compiler) columnAt(ref *columnRef, s *scope, depth, at int, col ora.Column) (expr, error) {
	if depth > 0 {
		s.refs++
	}
	if s.groups != nil {
		slot, ok := s.groups.keys[columnKey(at)]
		if !ok {
			return expr{}, errAt(ref.at(), 979, "not a GROUP BY expression")
		}
		at = slot
	}
	e := expr{typ: col.Type, nullable: col.Nullable, column: depth == 0, slot: at}
	switch depth {
	case 0:
		e.eval = func(f *frame) (ora.Value, error) { return f.row[at], nil }
	case 1:
		e.eval = func(f *frame) (ora.Value, error) { return f.outer.row[at], nil }
	default:
		e.eval = func(f *frame) (ora.Value, error) {
			for range depth {
				f = f.outer
			}
			return f.row[at], nil
		}
	}
	return e, nil
}

// niladic compiles the pseudo-columns and functions written without parentheses.
func (c *compiler) niladic(ref *columnRef) (expr, bool, error) {
	name := strings.Join(ref.parts, ".")
	switch name {
	case "ROWNUM":
		if c.scope == nil || !c.scope.pseudo || c.scope.groups != nil {
			return expr{}, true, errAt(ref.at(), 976, "Specified pseudocolumn or operator is not allowed here.")
		}
		return expr{typ: numberType(), eval: func(f *frame) (ora.Value, error) {
			return ora.EncodeInt(f.rownum), nil
		}}, true, nil
	case "LEVEL":
		if c.scope == nil || !c.scope.hierarchy || c.scope.groups != nil {
			return expr{}, true, errAt(ref.at(), 1788, "CONNECT BY clause required in this query block")
		}
		return expr{typ: numberType(), eval: func(f *frame) (ora.Value, error) {
			return ora.EncodeInt(f.level), nil
		}}, true, nil
	}
	fn, ok := c.db.functions[strings.TrimPrefix(name, "SYS.")]
	if !ok || !fn.niladic {
		return expr{}, false, nil
	}
	e, err := c.function(&call{loc: ref.loc, name: name}, nil)
	return e, true, err
}

// columnKey is how a column's position stands in the key of an expression.
func columnKey(at int) string { return "@" + itoa(at) }

// keyOf is the key of an expression in the current scope.
func (c *compiler) keyOf(n node) string {
	return key(n, func(ref *columnRef) string {
		if at, _, err := c.scope.find(ref); err == nil && at >= 0 {
			return columnKey(at)
		}
		return quotedPath(ref.parts)
	})
}
