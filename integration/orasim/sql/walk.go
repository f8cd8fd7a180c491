package sql

import (
	"fmt"
	"strings"
)

// children are the expressions directly inside a node; subqueries are not entered.
func children(n node) []node {
	switch n := n.(type) {
	case *unary:
		return []node{n.x}
	case *binary:
		return []node{n.l, n.r}
	case *logic:
		return n.terms
	case *notCond:
		return []node{n.x}
	case *isNull:
		return []node{n.x}
	case *between:
		return []node{n.x, n.lo, n.hi}
	case *inCond:
		return append([]node{n.x}, n.list...)
	case *likeCond:
		return withoutNil(n.x, n.pattern, n.escape)
	case *caseExpr:
		list := withoutNil(n.operand, n.orElse)
		for _, w := range n.whens {
			list = append(list, w.cond, w.then)
		}
		return list
	case *call:
		return n.args
	case *windowCall:
		list := append(append([]node(nil), n.call.args...), n.partition...)
		for _, o := range n.order {
			list = append(list, o.x)
		}
		return list
	case *castExpr:
		return []node{n.x}
	case *extractExpr:
		return []node{n.x}
	case *trimExpr:
		return withoutNil(n.chars, n.x)
	case *zoneExpr:
		return withoutNil(n.x, n.zone)
	}
	return nil
}

func withoutNil(ns ...node) []node {
	var list []node
	for _, n := range ns {
		if n != nil {
			list = append(list, n)
		}
	}
	return list
}

// any says whether a test holds for a node or anything inside it.
func anyNode(n node, test func(node) bool) bool {
	if n == nil {
		return false
	}
	if test(n) {
		return true
	}
	for _, c := range children(n) {
		if anyNode(c, test) {
			return true
		}
	}
	return false
}

// hasSubquery says whether a query is nested in an expression.
func hasSubquery(n node) bool {
	return anyNode(n, func(n node) bool {
		switch n := n.(type) {
		case *subquery, *existsCond:
			return true
		case *inCond:
			return n.sub != nil
		}
		return false
	})
}

// isAggregate says whether a node is a call of an aggregate function.
func isAggregate(n node) bool {
	c, ok := n.(*call)
	return ok && aggregateName(c.name)
}

// key is a text that is equal for two expressions exactly when they are the same expression; column gives the
// text of a column. Expressions with a subquery are never the same.
func key(n node, column func(*columnRef) string) string {
	var b strings.Builder
	writeKey(&b, n, column)
	return b.String()
}

func writeKey(b *strings.Builder, n node, column func(*columnRef) string) {
	switch n := n.(type) {
	case *columnRef:
		b.WriteString(column(n))
		return
	case *starRef:
		b.WriteString(columnKey(n.table.offset + n.column))
		return
	case *literal:
		fmt.Fprintf(b, "%d:%x", n.typ.Code, n.value)
		return
	case *bindRef:
		fmt.Fprintf(b, ":%q", n.name)
		return
	case *subquery, *existsCond, *windowCall:
		fmt.Fprintf(b, "%p", n)
		return
	}
	b.WriteString(shape(n))
	b.WriteByte('(')
	for _, c := range children(n) {
		writeKey(b, c, column)
		b.WriteByte(',')
	}
	b.WriteByte(')')
}

// shape is what a node says besides its children.
func shape(n node) string {
	switch n := n.(type) {
	case *unary:
		return "u" + n.op
	case *binary:
		return n.op
	case *logic:
		return n.op
	case *isNull:
		return fmt.Sprint("null", n.not)
	case *between:
		return fmt.Sprint("between", n.not)
	case *inCond:
		if n.sub != nil {
			return fmt.Sprintf("in%p", n)
		}
		return fmt.Sprint("in", n.not)
	case *likeCond:
		return fmt.Sprint("like", n.not, n.escape != nil)
	case *caseExpr:
		return fmt.Sprint("case", n.operand != nil, n.orElse != nil, len(n.whens))
	case *call:
		return fmt.Sprint(n.name, n.star, n.distinct)
	case *castExpr:
		return fmt.Sprint("cast", n.typ)
	case *extractExpr:
		return "extract" + n.field
	case *trimExpr:
		return fmt.Sprint("trim", n.side, n.chars != nil)
	}
	return fmt.Sprintf("%T", n)
}

// conjuncts are the terms of a chain of ANDs.
func conjuncts(n node) []node {
	if n == nil {
		return nil
	}
	l, ok := n.(*logic)
	if !ok || l.op != "AND" {
		return []node{n}
	}
	var list []node
	for _, t := range l.terms {
		list = append(list, conjuncts(t)...)
	}
	return list
}
