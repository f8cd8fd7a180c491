package sql

import "github.com/loadctl/loadctl/integration/orasim/ora"

// node is an expression or a condition as parsed. at is its byte offset in the statement.
type node interface{ at() int }

// loc is a byte offset in the statement; nodes embed it.
type loc int

func (l loc) at() int { return int(l) }

type (
	// literal is a constant; a nil value is NULL.
	literal struct {
		loc
		typ   ora.Type
		value ora.Value
	}
	// columnRef is a name of up to three parts: [[schema.]table.]column. It may turn out to be a pseudo-column
	// or a function without parentheses.
	columnRef struct {
		loc
		parts []string
		outer bool // followed by (+)
	}
	// bindRef is a placeholder; index counts the placeholders of the statement in order of appearance.
	bindRef struct {
		loc
		name  string
		index int
	}
	// unary is - x, + x or PRIOR x.
	unary struct {
		loc
		op string
		x  node
	}
	// binary is an arithmetic operator, || or a comparison.
	binary struct {
		loc
		op   string
		l, r node
	}
	// logic is a chain of AND or OR.
	logic struct {
		loc
		op    string
		terms []node
	}
	notCond struct {
		loc
		x node
	}
	isNull struct {
		loc
		x   node
		not bool
	}
	between struct {
		loc
		x, lo, hi node
		not       bool
	}
	// inCond is x IN (list) or x IN (sub).
	inCond struct {
		loc
		x    node
		list []node
		sub  *selectStmt
		not  bool
	}
	likeCond struct {
		loc
		x, pattern, escape node
		not                bool
	}
	existsCond struct {
		loc
		sub *selectStmt
	}
	// caseExpr is both forms of CASE; operand is nil in the searched one.
	caseExpr struct {
		loc
		operand node
		whens   []when
		orElse  node
	}
	when struct{ cond, then node }
	// call is a function; name is the full upper-case dotted name.
	call struct {
		loc
		name     string
		args     []node
		star     bool // COUNT(*)
		distinct bool
	}
	castExpr struct {
		loc
		x   node
		typ ora.Type
	}
	extractExpr struct {
		loc
		field string
		x     node
	}
	trimExpr struct {
		loc
		side     string // LEADING, TRAILING, BOTH
		chars, x node
	}
	zoneExpr struct { // x AT TIME ZONE zone; a nil zone is AT LOCAL
		loc
		x, zone node
	}
	subquery struct {
		loc
		sel *selectStmt
	}
)

// selectStmt is a query with what may stand around its blocks.
type selectStmt struct {
	loc
	with    []namedQuery
	body    queryBody
	order   []orderItem
	offset  node
	fetch   node // FETCH FIRST n ROWS; nil: all
	ties    bool
	locking *lockClause
}

type namedQuery struct {
	name    string
	columns []string
	sel     *selectStmt
}

type lockClause struct{ wait node } // nil: for ever; a literal 0 is NOWAIT

// queryBody is a *queryBlock, a *setOp or a *selectStmt in parentheses.
type queryBody interface{ isBody() }

type setOp struct {
	loc
	op   string // UNION, UNION ALL, INTERSECT, MINUS
	l, r queryBody
}

type queryBlock struct {
	loc
	distinct bool
	items    []selectItem
	from     []fromItem
	where    node
	connect  node // CONNECT BY
	group    []node
	having   node
}

func (*setOp) isBody()      {}
func (*queryBlock) isBody() {}
func (*selectStmt) isBody() {}

// selectItem is an expression or, with star, all columns (of one table, when table is set).
type selectItem struct {
	loc
	x     node
	alias string
	text  string // as written, for the column's name
	star  bool
	table []string
}

type orderItem struct {
	x          node
	desc       bool
	nullsFirst bool
}

// fromItem is a *tableRef, *derived or *joined.
type fromItem interface{ isFrom() }

type tableRef struct {
	loc
	schema, name, alias string
	asOf                *asOf
	part                *partitionRef // nil: the whole table
	sample              *sampleClause
}

type asOf struct {
	loc
	x         node
	timestamp bool
}

type derived struct {
	loc
	sel   *selectStmt
	alias string
}

type joined struct {
	loc
	left bool // LEFT OUTER
	l, r fromItem
	on   node // nil: CROSS
}

func (*tableRef) isFrom() {}
func (*derived) isFrom()  {}
func (*joined) isFrom()   {}
