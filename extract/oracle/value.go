package oracle

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/loadctl/loadctl/extract"
)

// put appends one value of the driver to a vector.
type put func(v *extract.Vector, x driver.Value) error

// putFor is the conversion for a column. The types of the driver's values follow from the column's: numbers and
// texts are strings, dates and timestamps are wall clocks in UTC (see url).
func putFor(c extract.Column, unicode bool) put {
	switch {
	case c.Type.Wide():
		return orNull(putWide)
	case c.Type.Kind == extract.Decimal:
		return orNull(putNarrow)
	case c.Type.Kind == extract.Timestamp:
		return orNull(putTime)
	case unicode:
		return orNull(putText)
	default:
		return orNull(putConverted)
	}
}

// orNull takes care of NULL, which the empty text is in Oracle too.
func orNull(f put) put {
	return func(v *extract.Vector, x driver.Value) error {
		if x == nil || x == "" {
			v.Null()
			return nil
		}
		return f(v, x)
	}
}

func putNarrow(v *extract.Vector, x driver.Value) error {
	n, err := decimal(v.Type, x)
	if err != nil {
		return err
	}
	narrow, ok := n.Int64()
	if !ok {
		return fmt.Errorf("%w: %v does not fit 64 bits", extract.ErrValue, x)
	}
	v.AppendInt(narrow)
	return nil
}

func putWide(v *extract.Vector, x driver.Value) error {
	n, err := decimal(v.Type, x)
	if err == nil {
		v.AppendWide(n)
	}
	return err
}

func decimal(t extract.Type, x driver.Value) (extract.Int128, error) {
	s, ok := x.(string)
	if !ok {
		return extract.Int128{}, otherType("number", x)
	}
	return extract.ParseDecimal(s, t)
}

func putTime(v *extract.Vector, x driver.Value) error {
	t, ok := x.(time.Time)
	if !ok {
		return otherType("time", x)
	}
	if err := checkCalendar(t); err != nil {
		return err
	}
	day, nano, err := extract.SplitTime(t)
	if err == nil {
		v.AppendTime(day, nano)
	}
	return err
}

// checkCalendar refuses what the driver may have changed in silence. Oracle has the Julian calendar before
// 1582-10-15, the driver the Gregorian one without end: 29 February of 1500, which only the first has, arrives as
// 1 March, and nothing tells it from a true 1 March.
func checkCalendar(t time.Time) error {
	year, month, day := t.Date()
	if year < 1582 && year%100 == 0 && year%400 != 0 && month == time.March && day == 1 {
		return fmt.Errorf("%w: %04d-03-01 may be 29 February of the Julian calendar, which this reader cannot tell apart", extract.ErrValue, year)
	}
	return nil
}

func putText(v *extract.Vector, x driver.Value) error {
	s, ok := x.(string)
	if !ok {
		return otherType("text", x)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %q is not UTF-8", extract.ErrValue, clip(s, 80))
	}
	v.AppendString(s)
	return nil
}

// putConverted is putText for a database of another charset: the driver has converted the text, and wrote U+FFFD
// for bytes that mean nothing.
func putConverted(v *extract.Vector, x driver.Value) error {
	if s, ok := x.(string); ok && strings.ContainsRune(s, utf8.RuneError) {
		return fmt.Errorf("%w: %q has bytes that mean nothing in the database's charset", extract.ErrValue, clip(s, 80))
	}
	return putText(v, x)
}

// otherType is a column that the server describes otherwise than the dictionary did when the run was planned.
func otherType(want string, x driver.Value) error {
	return fmt.Errorf("%w: the server sent a %T where the dictionary has a %s; was the table changed?", extract.ErrValue, x, want)
}
