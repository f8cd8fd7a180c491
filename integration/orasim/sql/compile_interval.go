package sql

import (
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// intervalArithmetic compiles interval ± interval and interval * or / number.
func intervalArithmetic(n *binary, l, r expr) (expr, error) {
	lc, rc := classOf(l.typ), classOf(r.typ)
	switch {
	case (n.op == "+" || n.op == "-") && lc == rc:
		return addIntervals(l, r, n.op == "-"), nil
	case n.op == "*" && lc <= classText:
		return scaleInterval(n, r, l)
	case (n.op == "*" || n.op == "/") && rc <= classText:
		return scaleInterval(n, l, r)
	}
	return expr{}, mismatch(n.at(), lc, rc)
}

func addIntervals(l, r expr, back bool) expr {
	sign := 1
	if back {
		sign = -1
	}
	k := classOf(l.typ)
	return strict(plainType(k), []expr{l, r}, func(_ *execution, v []ora.Value) (ora.Value, error) {
		if k == classMonths {
			a, err := ora.DecodeMonths(v[0])
			if err != nil {
				return nil, err
			}
			b, err := ora.DecodeMonths(v[1])
			return ora.EncodeMonths(a + sign*b), err
		}
		a, err := ora.DecodeSpan(v[0])
		if err != nil {
			return nil, err
		}
		b, err := ora.DecodeSpan(v[1])
		nanos := a.Nanos + sign*b.Nanos
		carry := nanos / int(time.Second)
		return spanOf(a.Seconds+int64(sign)*b.Seconds+int64(carry), nanos%int(time.Second)).Encode(), err
	})
}

// scaleInterval compiles interval * number and interval / number. Months are cut to whole ones, spans rounded to
// nanoseconds.
func scaleInterval(n *binary, interval, number expr) (expr, error) {
	number, err := number.to(classNumber, n.at())
	if err != nil {
		return expr{}, err
	}
	op := numberOperator(n.op)
	k := classOf(interval.typ)
	return strict(plainType(k), []expr{interval, number}, func(_ *execution, v []ora.Value) (ora.Value, error) {
		by, err := ora.DecodeNumber(v[1])
		if err != nil {
			return nil, err
		}
		if k == classMonths {
			m, err := ora.DecodeMonths(v[0])
			if err != nil {
				return nil, err
			}
			x, err := op(ora.NumFromInt(int64(m)), by)
			if err != nil {
				return nil, err
			}
			months, err := wholeWithin(x.Trunc(0), 12_000_000_000)
			return ora.EncodeMonths(int(months)), err
		}
		s, err := ora.DecodeSpan(v[0])
		if err != nil {
			return nil, err
		}
		x, err := op(secondsAndNanos(s.Seconds, s.Nanos), by)
		if err != nil {
			return nil, err
		}
		return spanFromNumber(x)
	}), nil
}

// spanFromNumber is a span of so many seconds.
func spanFromNumber(x ora.Num) (ora.Value, error) {
	x, err := x.Round(9)
	if err != nil {
		return nil, err
	}
	whole := x.Trunc(0)
	seconds, err := wholeWithin(whole, 86400*1_000_000_000)
	if err != nil {
		return nil, err
	}
	rest, err := x.Sub(whole)
	if err == nil {
		rest, err = rest.Mul(ora.NumFromInt(int64(time.Second)))
	}
	if err != nil {
		return nil, err
	}
	nanos, _ := rest.Int64() // below a second, rounded
	return ora.Span{Seconds: seconds, Nanos: int(nanos)}.Encode(), nil
}

// wholeWithin is a whole number below a limit: ORA-01873 for one that is not.
func wholeWithin(x ora.Num, limit int64) (int64, error) {
	i, ok := x.Int64()
	if !ok || i >= limit || i <= -limit {
		return 0, ora.Errorf(1873, "the leading precision of the interval is too small")
	}
	return i, nil
}
