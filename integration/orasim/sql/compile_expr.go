package sql

import (
	"strconv"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func itoa(i int) string { return strconv.Itoa(i) }

// expr compiles an expression. A condition where a value should be is ORA-00907, as a parser of Oracle's
// grammar would say.
func (c *compiler) expr(n node) (expr, error) {
	if e, ok, err := c.grouped(n); ok || err != nil {
		return e, err
	}
	switch n := n.(type) {
	case *literal:
		return constantExpr(n.typ, n.value), nil
	case *columnRef:
		return c.column(n)
	case *starRef:
		return c.star(n)
	case *bindRef:
		return c.bind(n), nil
	case *unary:
		return c.unary(n)
	case *binary:
		if isComparison(n.op) {
			break
		}
		if n.op == "||" {
			return c.concat(n)
		}
		return c.arithmetic(n)
	case *caseExpr:
		return c.caseExpr(n)
	case *call:
		return c.call(n)
	case *windowCall:
		return c.window(n)
	case *castExpr:
		x, err := c.expr(n.x)
		if err != nil {
			return expr{}, err
		}
		return x.cast(n.typ, "", n.at())
	case *extractExpr:
		return c.extract(n)
	case *trimExpr:
		return c.trim(n)
	case *zoneExpr:
		return c.atZone(n)
	case *subquery:
		return c.scalar(n)
	}
	return expr{}, errAt(n.at(), 907, "missing right parenthesis")
}

func isComparison(op string) bool {
	switch op {
	case "=", "<>", "<", ">", "<=", ">=":
		return true
	}
	return false
}

// exprAs compiles an expression and converts it to a class.
func (c *compiler) exprAs(n node, want class) (expr, error) {
	e, err := c.expr(n)
	if err != nil {
		return expr{}, err
	}
	return e.to(want, n.at())
}

func (c *compiler) exprs(ns []node) ([]expr, error) {
	list := make([]expr, len(ns))
	for i, n := range ns {
		e, err := c.expr(n)
		if err != nil {
			return nil, err
		}
		list[i] = e
	}
	return list, nil
}

// bind compiles a placeholder; before its type is known it is text.
func (c *compiler) bind(n *bindRef) expr {
	typ := textType(maxVarchar)
	if n.index < len(c.binds) {
		typ = bindType(c.binds[n.index])
	}
	i := n.index
	return expr{typ: typ, nullable: true, constant: true, eval: func(f *frame) (ora.Value, error) {
		if i >= len(f.x.binds) {
			return nil, ora.Errorf(1008, "not all variables bound")
		}
		return f.x.binds[i], nil
	}}
}

// bindType completes what a client says of a bind: a NUMBER has any precision, a text at least some length.
func bindType(t ora.Type) ora.Type {
	switch classOf(t) {
	case classNumber:
		return numberType()
	case classRaw, classBlob:
		return ora.Type{Code: ora.Raw, Bytes: max(t.Bytes, 1)}
	case classText, classLob, classOther:
		if t.Form == 0 {
			t.Form = ora.FormDatabase
		}
		t.Code = ora.Varchar2
		t.Bytes, t.Chars = max(t.Bytes, 1), max(t.Chars, 1)
	case classTimestamp, classTZ, classLTZ, classDate, classSpan, classMonths:
		return plainType(classOf(t))
	}
	return t
}

func (c *compiler) unary(n *unary) (expr, error) {
	if n.op == "PRIOR" {
		return expr{}, errAt(n.at(), 3001, "unimplemented feature: PRIOR")
	}
	x, err := c.expr(n.x)
	if err != nil || n.op == "+" {
		return x, err
	}
	switch classOf(x.typ) {
	case classFloat:
		return x.through(ora.Type{Code: ora.BinaryDouble, Bytes: 8}, func(_ *execution, v ora.Value) (ora.Value, error) {
			f, err := floatOf(x.typ, v)
			return ora.EncodeDouble(-f), err
		}), nil
	case classSpan:
		return x.through(x.typ, func(_ *execution, v ora.Value) (ora.Value, error) {
			s, err := ora.DecodeSpan(v)
			return ora.Span{Seconds: -s.Seconds, Nanos: -s.Nanos}.Encode(), err
		}), nil
	case classMonths:
		return x.through(x.typ, func(_ *execution, v ora.Value) (ora.Value, error) {
			m, err := ora.DecodeMonths(v)
			return ora.EncodeMonths(-m), err
		}), nil
	}
	x, err = x.to(classNumber, n.at())
	if err != nil {
		return expr{}, err
	}
	return x.through(numberType(), func(_ *execution, v ora.Value) (ora.Value, error) {
		d, err := ora.DecodeNumber(v)
		return d.Neg().Encode(), err
	}), nil
}

func (c *compiler) concat(n *binary) (expr, error) {
	l, err := c.expr(n.l)
	if err != nil {
		return expr{}, err
	}
	r, err := c.expr(n.r)
	if err != nil {
		return expr{}, err
	}
	lob := classOf(l.typ) == classLob || classOf(r.typ) == classLob
	if l, err = l.to(classText, n.at()); err != nil {
		return expr{}, err
	}
	if r, err = r.to(classText, n.at()); err != nil {
		return expr{}, err
	}
	typ := textType(min(l.typ.Bytes+r.typ.Bytes, maxVarchar))
	if lob {
		typ = plainType(classLob)
	}
	return expr{typ: typ, nullable: true, constant: l.constant && r.constant, eval: func(f *frame) (ora.Value, error) {
		a, err := l.eval(f)
		if err != nil {
			return nil, err
		}
		b, err := r.eval(f)
		switch {
		case err != nil:
			return nil, err
		case len(a) == 0:
			return b, nil
		case len(b) == 0:
			return a, nil
		case len(a)+len(b) > maxVarchar && !lob, len(a)+len(b) > maxLob:
			return nil, ora.Errorf(1489, "result of string concatenation is too long")
		}
		return append(a[:len(a):len(a)], b...), nil
	}}, nil
}

// arithmetic compiles + - * / on numbers, floats, datetimes and intervals.
func (c *compiler) arithmetic(n *binary) (expr, error) {
	l, err := c.expr(n.l)
	if err != nil {
		return expr{}, err
	}
	r, err := c.expr(n.r)
	if err != nil {
		return expr{}, err
	}
	lc, rc := classOf(l.typ), classOf(r.typ)
	switch {
	case isDatetime(lc) || isDatetime(rc):
		return datetimeArithmetic(n, l, r)
	case lc == classSpan || lc == classMonths || rc == classSpan || rc == classMonths:
		return intervalArithmetic(n, l, r)
	case lc == classFloat || rc == classFloat:
		return floatArithmetic(n, l, r)
	}
	if l, err = l.to(classNumber, n.l.at()); err != nil {
		return expr{}, err
	}
	if r, err = r.to(classNumber, n.r.at()); err != nil {
		return expr{}, err
	}
	op := numberOperator(n.op)
	return strict(numberType(), []expr{l, r}, func(_ *execution, v []ora.Value) (ora.Value, error) {
		a, err := ora.DecodeNumber(v[0])
		if err != nil {
			return nil, err
		}
		b, err := ora.DecodeNumber(v[1])
		if err != nil {
			return nil, err
		}
		x, err := op(a, b)
		return x.Encode(), err
	}), nil
}

func numberOperator(op string) func(a, b ora.Num) (ora.Num, error) {
	switch op {
	case "+":
		return ora.Num.Add
	case "-":
		return ora.Num.Sub
	case "*":
		return ora.Num.Mul
	}
	return ora.Num.Div
}

func floatArithmetic(n *binary, l, r expr) (expr, error) {
	l, err := l.to(classFloat, n.l.at())
	if err != nil {
		return expr{}, err
	}
	r, err = r.to(classFloat, n.r.at())
	if err != nil {
		return expr{}, err
	}
	return strict(plainType(classFloat), []expr{l, r}, func(_ *execution, v []ora.Value) (ora.Value, error) {
		a, err := ora.DecodeDouble(v[0])
		if err != nil {
			return nil, err
		}
		b, err := ora.DecodeDouble(v[1])
		switch n.op {
		case "+":
			a += b
		case "-":
			a -= b
		case "*":
			a *= b
		default:
			a /= b
		}
		return ora.EncodeDouble(a), err
	}), nil
}

func isDatetime(c class) bool {
	return c == classDate || c == classTimestamp || c == classTZ || c == classLTZ
}

// datetimeArithmetic compiles datetime ± number or interval, and datetime - datetime.
func datetimeArithmetic(n *binary, l, r expr) (expr, error) {
	lc, rc := classOf(l.typ), classOf(r.typ)
	switch {
	case n.op == "-" && isDatetime(lc) && isDatetime(rc):
		return difference(n, l, r)
	case n.op == "+" && isDatetime(rc) && !isDatetime(lc):
		l, r = r, l
		lc, rc = rc, lc
	case n.op != "+" && n.op != "-" || isDatetime(rc):
		return expr{}, mismatch(n.at(), classNumber, classDate)
	}
	var err error
	typ := l.typ
	if rc != classSpan && rc != classMonths {
		// A number of days makes a DATE of anything.
		if l, err = l.to(classDate, n.l.at()); err != nil {
			return expr{}, err
		}
		if r, err = r.to(classNumber, n.r.at()); err != nil {
			return expr{}, err
		}
		typ, rc = l.typ, classNumber
	}
	back := n.op == "-"
	return strict(typ, []expr{l, r}, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := x.decodeTime(typ, v[0])
		if err != nil {
			return nil, err
		}
		if t, err = moveZoned(t, rc, v[1], back); err != nil {
			return nil, err
		}
		return x.encodeTime(t, classOf(typ))
	}), nil
}

// moveZoned moves a time. In a region, a span is added to the moment and months are added to the calendar, after
// which its offset may be another.
func moveZoned(t zoned, c class, v ora.Value, back bool) (zoned, error) {
	var err error
	if t.region == nil || c == classMonths {
		if t.wall, err = move(t.wall, c, v, back); err != nil || t.region == nil {
			return t, err
		}
		return t.of().atWall(t.wall)
	}
	utc, err := move(t.utc(), c, v, back)
	if err != nil {
		return t, err
	}
	return t.of().atUTC(utc), nil
}

// move adds days, a span or months to a time.
func move(t ora.Time, c class, v ora.Value, back bool) (ora.Time, error) {
	sign := int64(1)
	if back {
		sign = -1
	}
	switch c {
	case classSpan:
		s, err := ora.DecodeSpan(v)
		return t.AddSeconds(sign * s.Seconds).AddNanos(sign * int64(s.Nanos)), err
	case classMonths:
		m, err := ora.DecodeMonths(v)
		if err != nil {
			return t, err
		}
		moved := addMonths(t, int(sign)*m)
		if moved.Day > ora.DaysIn(moved.Year, moved.Month) {
			return t, ora.Errorf(1839, "date not valid for month specified")
		}
		return moved, nil
	}
	days, err := ora.DecodeNumber(v)
	if err != nil {
		return t, err
	}
	seconds, err := days.Mul(ora.NumFromInt(86400))
	if err == nil {
		seconds, err = seconds.Round(0)
	}
	if err != nil {
		return t, err
	}
	s, ok := seconds.Int64()
	if !ok || s > 1<<40 || s < -1<<40 {
		return t, ora.Errorf(1841, "(full) year must be between -4713 and +9999, and not be 0")
	}
	return t.AddSeconds(sign * s), nil
}

// addMonths moves by months and leaves the day as it is, which may be past the end of the month.
func addMonths(t ora.Time, months int) ora.Time {
	y := t.Year
	if y < 0 {
		y++
	}
	total := y*12 + t.Month - 1 + months
	year, month := total/12, total%12
	if month < 0 {
		month += 12
		year--
	}
	if year <= 0 {
		year--
	}
	t.Year, t.Month = year, month+1
	return t
}

// difference compiles datetime - datetime: days between DATEs, an interval otherwise.
func difference(n *binary, l, r expr) (expr, error) {
	common := max(classOf(l.typ), classOf(r.typ))
	l, err := l.to(common, n.l.at())
	if err != nil {
		return expr{}, err
	}
	if r, err = r.to(common, n.r.at()); err != nil {
		return expr{}, err
	}
	typ := plainType(classSpan)
	typ.Scale = max(l.typ.Scale, r.typ.Scale)
	if common == classDate {
		typ = numberType()
	}
	return strict(typ, []expr{l, r}, func(x *execution, v []ora.Value) (ora.Value, error) {
		a, err := x.utc(l.typ, v[0])
		if err != nil {
			return nil, err
		}
		b, err := x.utc(r.typ, v[1])
		if err != nil {
			return nil, err
		}
		seconds := a.Seconds() - b.Seconds()
		if common == classDate {
			days, err := ora.NumFromInt(seconds).Div(ora.NumFromInt(86400))
			return days.Encode(), err
		}
		return spanOf(seconds, a.Nano-b.Nano).Encode(), nil
	}), nil
}

// spanOf makes both parts of a span have one sign.
func spanOf(seconds int64, nanos int) ora.Span {
	switch {
	case seconds > 0 && nanos < 0:
		seconds, nanos = seconds-1, nanos+int(time.Second)
	case seconds < 0 && nanos > 0:
		seconds, nanos = seconds+1, nanos-int(time.Second)
	}
	return ora.Span{Seconds: seconds, Nanos: nanos}
}

// utc is a time without its zone, or moved to UTC when it has one.
func (x *execution) utc(t ora.Type, v ora.Value) (ora.Time, error) {
	z, err := x.decodeTime(t, v)
	return z.utc(), err
}
