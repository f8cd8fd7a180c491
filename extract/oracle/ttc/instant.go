package ttc

import (
	"encoding/binary"
	"fmt"
	"time"
)

// An instant has seven bytes: century and year of the century, each plus 100, month, day, and hour, minute and second,
// each plus 1. A TIMESTAMP has four more, the nanoseconds, unless they are 0.
const (
	instantLen   = 7
	instantNanos = 11
	yearOffset   = 100
)

// instant decodes the value of a DATE or a TIMESTAMP.
func (c *decodedColumn) instant(x []byte) (day int32, nano int64, why fault) {
	if len(x) != instantLen && (len(x) != instantNanos || c.form != formTimestamp) {
		return 0, 0, badLength
	}
	// The top bit tells a date that was seen from none.
	date := 1<<32 | uint64(binary.BigEndian.Uint32(x))
	if date != c.date {
		day, why := dayOf(x)
		if why != fine {
			return 0, 0, why
		}
		c.date, c.day = date, day
	}
	h, m, s := x[4]-1, x[5]-1, x[6]-1
	if h > 23 || m > 59 || s > 59 {
		return 0, 0, badInstant
	}
	nano = (int64(h)*3600 + int64(m)*60 + int64(s)) * int64(time.Second)
	if len(x) == instantNanos {
		fraction := binary.BigEndian.Uint32(x[instantLen:])
		if fraction >= uint32(time.Second) {
			return 0, 0, badInstant
		}
		nano += int64(fraction)
	}
	return c.day, nano, fine
}

// dayOf returns the day of the calendar that x names, counted from 1970-01-01.
func dayOf(x []byte) (int32, fault) {
	year, month, day := yearOf(x), int(x[2]), int(x[3])
	if x[0] < yearOffset || x[1] < yearOffset || year < 1 || year > 9999 {
		return 0, beforeChrist
	}
	if x[1] >= 2*yearOffset || month < 1 || month > 12 {
		return 0, badInstant
	}
	leap := year%4 == 0 && (year%100 != 0 || year%400 == 0)
	last := 30 + (month+month/8)&1
	if month == 2 {
		last = 28
		if leap {
			last = 29
		}
	}
	if day >= 1 && day <= last {
		return int32(monthBegins(year, month) + day - 1), fine
	}
	if month == 2 && day == 29 && year%4 == 0 && year < lastJulianYear {
		return 0, julianLeapDay
	}
	return 0, badInstant
}

// lastJulianYear is when Oracle's calendar changes from the Julian to the Gregorian.
const lastJulianYear = 1582

// monthBegins is the day on which a month begins, counted from 1970-01-01. The year is taken to begin in March, so that
// the day that leap years have more is its last.
func monthBegins(year, month int) int {
	const epoch = 719468 // days from 0000-03-01 to 1970-01-01
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 - epoch
}

func yearOf(x []byte) int { return (int(x[0])-yearOffset)*100 + int(x[1]) - yearOffset }

// showInstant writes an instant as it claims to be.
func showInstant(x []byte) string {
	return fmt.Sprintf("%04d-%02d-%02d %02d:%02d:%02d", yearOf(x), x[2], x[3], int(x[4])-1, int(x[5])-1, int(x[6])-1)
}
