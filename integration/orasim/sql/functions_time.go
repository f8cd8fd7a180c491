package sql

import (
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func timeFunctions() map[string]function {
	tz6 := ora.Type{Code: ora.TimestampTZ, Scale: 6, Bytes: 13}
	ts6 := ora.Type{Code: ora.Timestamp, Scale: 6, Bytes: 11}
	return map[string]function{
		"SYSDATE": {0, 0, true, clock(dateType(), false)}, "CURRENT_DATE": {0, 0, true, clock(dateType(), true)},
		"SYSTIMESTAMP": {0, 1, true, clock(tz6, false)}, "CURRENT_TIMESTAMP": {0, 1, true, clock(tz6, true)},
		"LOCALTIMESTAMP": {0, 1, true, clock(ts6, true)},
		"ADD_MONTHS":     {2, 2, false, addMonthsFunction},
		"LAST_DAY": {1, 1, false, onDate(func(t ora.Time) (ora.Time, error) {
			t.Day = ora.DaysIn(t.Year, t.Month)
			return t, nil
		})},
		"NEXT_DAY":        {2, 2, false, nextDay},
		"MONTHS_BETWEEN":  {2, 2, false, monthsBetween},
		"SYS_EXTRACT_UTC": {1, 1, false, extractUTC},
		"TZ_OFFSET":       {1, 1, false, zoneOffset},
		"FROM_TZ":         {2, 2, false, fromTZ},
	}
}

// clock compiles the current time, in the server's zone or the session's.
func clock(typ ora.Type, session bool) func(*compiler, *call, []expr) (expr, error) {
	return func(*compiler, *call, []expr) (expr, error) {
		return expr{typ: typ, constant: true, eval: func(f *frame) (ora.Value, error) {
			t := f.x.now
			if session {
				t = f.x.zone.atUTC(t.utc())
			}
			t.wall.Nano -= t.wall.Nano % 1000
			return f.x.encodeTime(t, classOf(typ))
		}}, nil
	}
}

// onDate compiles a function from a DATE to a DATE.
func onDate(fn func(ora.Time) (ora.Time, error)) func(*compiler, *call, []expr) (expr, error) {
	return func(_ *compiler, n *call, args []expr) (expr, error) {
		args, err := asClasses(n, args, classDate)
		if err != nil {
			return expr{}, err
		}
		return strict(dateType(), args, func(x *execution, v []ora.Value) (ora.Value, error) {
			t, err := ora.DecodeTime(v[0])
			if err != nil {
				return nil, err
			}
			if t, err = fn(t); err != nil {
				return nil, err
			}
			return x.encodeTime(zoned{wall: t}, classDate)
		}), nil
	}
}

func addMonthsFunction(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classDate, classNumber)
	if err != nil {
		return expr{}, err
	}
	return strict(dateType(), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := ora.DecodeTime(v[0])
		if err != nil {
			return nil, err
		}
		months, err := optionalInt(v, 1, 0)
		if err != nil {
			return nil, err
		}
		months = max(min(months, 200_000), -200_000)
		last := t.Day == ora.DaysIn(t.Year, t.Month)
		r := addMonths(t, months)
		// The last day of a month stays the last day.
		if days := ora.DaysIn(r.Year, r.Month); last || r.Day > days {
			r.Day = days
		}
		return x.encodeTime(zoned{wall: r}, classDate)
	}), nil
}

func nextDay(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classDate, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(dateType(), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := ora.DecodeTime(v[0])
		if err != nil {
			return nil, err
		}
		for i, name := range dayNames() {
			if strings.HasPrefix(strings.ToUpper(string(v[1])), name[:3]) {
				ahead := (i - (t.JulianDay()+1)%7 + 7) % 7
				if ahead == 0 {
					ahead = 7
				}
				return x.encodeTime(zoned{wall: t.AddSeconds(int64(ahead) * 86400)}, classDate)
			}
		}
		return nil, ora.Errorf(1846, "not a valid day of the week")
	}), nil
}

// monthsBetween counts whole months when both are the same day or both the last day, else parts of 31.
func monthsBetween(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classDate)
	if err != nil {
		return expr{}, err
	}
	return strict(numberType(), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		a, err := ora.DecodeTime(v[0])
		if err != nil {
			return nil, err
		}
		b, err := ora.DecodeTime(v[1])
		if err != nil {
			return nil, err
		}
		months := ora.NumFromInt(int64((a.Year-b.Year)*12 + a.Month - b.Month))
		if a.Day == b.Day || a.Day == ora.DaysIn(a.Year, a.Month) && b.Day == ora.DaysIn(b.Year, b.Month) {
			return months.Encode(), nil
		}
		seconds := int64(a.Day-b.Day)*86400 + int64(a.SecondOfDay()-b.SecondOfDay())
		part, err := ora.NumFromInt(seconds).Div(ora.NumFromInt(31 * 86400))
		if err != nil {
			return nil, err
		}
		total, err := months.Add(part)
		return total.Encode(), err
	}), nil
}

func extractUTC(_ *compiler, n *call, args []expr) (expr, error) {
	typ := args[0].typ
	if k := classOf(typ); k != classTZ && k != classLTZ && k != classTimestamp {
		return expr{}, mismatch(argAt(n, 0), classTZ, k)
	}
	return strict(ora.Type{Code: ora.Timestamp, Scale: typ.Scale, Bytes: 11}, args, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := x.decodeTime(typ, v[0])
		if err == nil {
			t, err = x.located(t)
		}
		return t.utc().EncodeTimestamp(), err
	}), nil
}

// zoneOffset compiles TZ_OFFSET(zone): its offset now.
func zoneOffset(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(textType(7), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		z, err := parseZone(string(v[0]))
		return ora.Value(ora.OffsetText(z.atUTC(x.now.utc()).offset)), err
	}), nil
}

func fromTZ(_ *compiler, n *call, args []expr) (expr, error) {
	args, err := asClasses(n, args, classTimestamp, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(plainType(classTZ), args, func(_ *execution, v []ora.Value) (ora.Value, error) {
		t, err := ora.DecodeTime(v[0])
		if err != nil {
			return nil, err
		}
		z, err := parseZone(string(v[1]))
		if err != nil {
			return nil, err
		}
		at, err := z.atWall(t)
		return at.encodeTZ(), err
	}), nil
}

// atZone compiles AT TIME ZONE and AT LOCAL.
func (c *compiler) atZone(n *zoneExpr) (expr, error) {
	x, err := c.expr(n.x)
	if err != nil {
		return expr{}, err
	}
	typ := x.typ
	if !isDatetime(classOf(typ)) || classOf(typ) == classDate {
		return expr{}, mismatch(n.at(), classTZ, classOf(typ))
	}
	args := []expr{x}
	if n.zone != nil {
		zone, err := c.exprAs(n.zone, classText)
		if err != nil {
			return expr{}, err
		}
		args = append(args, zone)
	}
	to := ora.Type{Code: ora.TimestampTZ, Scale: typ.Scale, Bytes: 13}
	return strict(to, args, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := x.decodeTime(typ, v[0])
		if err == nil {
			t, err = x.located(t)
		}
		if err != nil {
			return nil, err
		}
		z := x.zone
		if len(v) > 1 {
			if z, err = parseZone(string(v[1])); err != nil {
				return nil, err
			}
		}
		return z.atUTC(t.utc()).encodeTZ(), nil
	}), nil
}

// extract compiles EXTRACT(field FROM datetime or interval).
func (c *compiler) extract(n *extractExpr) (expr, error) {
	x, err := c.expr(n.x)
	if err != nil {
		return expr{}, err
	}
	k := classOf(x.typ)
	if !isDatetime(k) && k != classSpan && k != classMonths {
		return expr{}, errAt(n.x.at(), 30076, "invalid extract field for extract source")
	}
	clock := n.field == "HOUR" || n.field == "MINUTE" || n.field == "SECOND"
	zone := n.field == "TIMEZONE_HOUR" || n.field == "TIMEZONE_MINUTE"
	calendar := n.field == "YEAR" || n.field == "MONTH" || n.field == "DAY"
	if !clock && !zone && !calendar || clock && (k == classDate || k == classMonths) || zone && k != classTZ && k != classLTZ {
		return expr{}, errAt(n.x.at(), 30076, "invalid extract field for extract source")
	}
	typ := x.typ
	return x.through(numberType(), func(x *execution, v ora.Value) (ora.Value, error) {
		switch k {
		case classMonths:
			m, err := ora.DecodeMonths(v)
			return intervalField(n.field, m/12, m%12, ora.Span{}).Encode(), err
		case classSpan:
			s, err := ora.DecodeSpan(v)
			return intervalField(n.field, 0, 0, s).Encode(), err
		}
		t, err := x.decodeTime(typ, v)
		return timeField(n.field, t).Encode(), err
	}), nil
}

func timeField(field string, t zoned) ora.Num {
	i := 0
	switch field {
	case "YEAR":
		i = t.wall.Year
	case "MONTH":
		i = t.wall.Month
	case "DAY":
		i = t.wall.Day
	case "HOUR":
		i = t.wall.Hour
	case "MINUTE":
		i = t.wall.Minute
	case "SECOND":
		return secondsAndNanos(int64(t.wall.Sec), t.wall.Nano)
	case "TIMEZONE_HOUR":
		i = t.offset / 60
	default:
		i = t.offset % 60
	}
	return ora.NumFromInt(int64(i))
}

func secondsAndNanos(s int64, nanos int) ora.Num {
	frac, _ := ora.NumFromInt(int64(nanos)).Div(ora.NumFromInt(1e9)) // exact, and 1e9 is not 0
	sum, _ := ora.NumFromInt(s).Add(frac)
	return sum
}

func intervalField(field string, years, months int, s ora.Span) ora.Num {
	switch field {
	case "YEAR":
		return ora.NumFromInt(int64(years))
	case "MONTH":
		return ora.NumFromInt(int64(months))
	case "DAY":
		return ora.NumFromInt(s.Seconds / 86400)
	case "HOUR":
		return ora.NumFromInt(s.Seconds / 3600 % 24)
	case "MINUTE":
		return ora.NumFromInt(s.Seconds / 60 % 60)
	}
	return secondsAndNanos(s.Seconds%60, s.Nanos)
}

// cutDate compiles TRUNC and ROUND of a date by a unit.
func cutDate(n *call, args []expr, round bool) (expr, error) {
	args, err := asClasses(n, args, classDate, classText)
	if err != nil {
		return expr{}, err
	}
	return strict(dateType(), args, func(x *execution, v []ora.Value) (ora.Value, error) {
		t, err := ora.DecodeTime(v[0])
		if err != nil {
			return nil, err
		}
		unit := "DD"
		if len(v) > 1 {
			unit = strings.ToUpper(string(v[1]))
		}
		from, to, ok := period(t, unit)
		if !ok {
			return nil, ora.Errorf(1898, "too many precision specifiers")
		}
		if round && roundsUp(t, from, to, unit) {
			from = to
		}
		return x.encodeTime(zoned{wall: from}, classDate)
	}), nil
}

// roundsUp says whether ROUND takes a date to the end of its period: from July in a year, from the 16th in a
// month, from the 16th of the middle month in a quarter, from the middle otherwise.
func roundsUp(t, from, to ora.Time, unit string) bool {
	switch periodKind(unit) {
	case "YEAR":
		return t.Month >= 7
	case "MONTH":
		return t.Day >= 16
	case "Q":
		middle := from.Month + 1
		return t.Month > middle || t.Month == middle && t.Day >= 16
	}
	return 2*(t.Seconds()-from.Seconds()) >= to.Seconds()-from.Seconds()
}

// periodKind groups the units of TRUNC.
func periodKind(unit string) string {
	switch unit {
	case "SYYYY", "YYYY", "YEAR", "SYEAR", "YYY", "YY", "Y":
		return "YEAR"
	case "MONTH", "MON", "MM", "RM":
		return "MONTH"
	case "DDD", "DD", "J":
		return "DAY"
	case "DAY", "DY", "D":
		return "WEEK"
	case "HH", "HH12", "HH24":
		return "HOUR"
	}
	return unit
}

// period is the year, month, ... that a date is in: its first moment and that of the next.
func period(t ora.Time, unit string) (from, to ora.Time, ok bool) {
	day := ora.FromJulianDay(t.JulianDay())
	first := func(month int) ora.Time { return ora.Time{Year: t.Year, Month: month, Day: 1} }
	weekOf := func(start int) (ora.Time, ora.Time) {
		jd := t.JulianDay() - (t.JulianDay()-start)%7
		return ora.FromJulianDay(jd), ora.FromJulianDay(jd + 7)
	}
	switch periodKind(unit) {
	case "YEAR":
		from = first(1)
		to = addMonths(from, 12)
	case "Q":
		from = first((t.Month-1)/3*3 + 1)
		to = addMonths(from, 3)
	case "MONTH":
		from = first(t.Month)
		to = addMonths(from, 1)
	case "IW":
		from, to = weekOf(0)
	case "WEEK":
		from, to = weekOf(6)
	case "WW":
		from, to = weekOf(first(1).JulianDay() % 7)
	case "W":
		from, to = weekOf(first(t.Month).JulianDay() % 7)
	case "DAY":
		from, to = day, day.AddSeconds(86400)
	case "HOUR":
		from = day.AddSeconds(int64(t.Hour) * 3600)
		to = from.AddSeconds(3600)
	case "MI":
		from = day.AddSeconds(int64(t.Hour)*3600 + int64(t.Minute)*60)
		to = from.AddSeconds(60)
	default:
		return t, t, false
	}
	return from, to, true
}
