package ora

import (
	"encoding/binary"
	"fmt"
	"time"
)

// Time is a decoded DATE or TIMESTAMP: a wall clock without a zone. Year is negative for BC, never 0.
type Time struct {
	Year                          int
	Month, Day, Hour, Minute, Sec int
	Nano                          int
}

// Limits of DATE.
const (
	MinYear = -4712
	MaxYear = 9999
)

// gregorian is the Julian day number of 1582-10-15, the first day Oracle counts by the Gregorian calendar; the
// day before is 1582-10-04 of the Julian one.
const gregorian = 2299161

// DecodeTime reads the 7 bytes of a DATE or the 7, 11 or 13 bytes of a TIMESTAMP (the zone is left aside).
func DecodeTime(v Value) (Time, error) {
	if len(v) < 7 {
		return Time{}, fmt.Errorf("decode date: %d bytes", len(v))
	}
	t := Time{
		Year:  (int(v[0])-100)*100 + int(v[1]) - 100,
		Month: int(v[2]), Day: int(v[3]),
		Hour: int(v[4]) - 1, Minute: int(v[5]) - 1, Sec: int(v[6]) - 1,
	}
	if len(v) >= 11 {
		t.Nano = int(binary.BigEndian.Uint32(v[7:]))
	}
	return t, nil
}

// EncodeDate writes the 7 bytes of a DATE; the fraction is dropped.
func (t Time) EncodeDate() Value { return t.appendDate(make(Value, 0, 7)) }

func (t Time) appendDate(dst Value) Value {
	return append(dst, byte(t.Year/100+100), byte(t.Year%100+100), byte(t.Month), byte(t.Day),
		byte(t.Hour+1), byte(t.Minute+1), byte(t.Sec+1))
}

// EncodeTimestamp writes a TIMESTAMP: 7 bytes when the fraction is 0, else 11. The bytes of two of them compare
// as the times do.
func (t Time) EncodeTimestamp() Value {
	v := t.appendDate(make(Value, 0, 11))
	if t.Nano == 0 {
		return v
	}
	return binary.BigEndian.AppendUint32(v, uint32(t.Nano))
}

// EncodeTZ writes a TIMESTAMP WITH TIME ZONE from a wall clock and its offset from UTC in minutes.
func (t Time) EncodeTZ(offset int) Value {
	u := t.AddSeconds(-int64(offset) * 60)
	v := u.appendDate(make(Value, 0, 13))
	v = binary.BigEndian.AppendUint32(v, uint32(u.Nano))
	return append(v, byte(offset/60+20), byte(offset%60+60))
}

// DecodeTZ reads a TIMESTAMP WITH TIME ZONE: the wall clock and its offset in minutes, which for a region are
// those of the moment.
func DecodeTZ(v Value) (wall Time, offset int, err error) {
	if len(v) != 13 {
		return Time{}, 0, fmt.Errorf("decode timestamp with time zone: %d bytes", len(v))
	}
	utc, err := DecodeTime(v)
	if err != nil {
		return Time{}, 0, err
	}
	if v[11]&0x80 != 0 {
		r := RegionOf(v)
		if r == nil {
			return Time{}, 0, fmt.Errorf("decode timestamp with time zone: unknown region % x", []byte(v[11:]))
		}
		offset = r.AtUTC(utc)
		return utc.AddSeconds(int64(offset) * 60), offset, nil
	}
	offset = (int(v[11])-20)*60 + int(v[12]) - 60
	return utc.AddSeconds(int64(offset) * 60), offset, nil
}

// JulianDay is the Julian day number, by the Julian calendar before 1582-10-15, as Oracle counts.
func (t Time) JulianDay() int {
	y := t.Year
	if y < 0 {
		y++ // astronomers have a year 0, Oracle has not
	}
	a := (14 - t.Month) / 12
	yy, mm := y+4800-a, t.Month+12*a-3
	if t.Year > 1582 || t.Year == 1582 && (t.Month > 10 || t.Month == 10 && t.Day >= 15) {
		return t.Day + (153*mm+2)/5 + 365*yy + yy/4 - yy/100 + yy/400 - 32045
	}
	return t.Day + (153*mm+2)/5 + 365*yy + yy/4 - 32083
}

// FromJulianDay is midnight of a Julian day number.
func FromJulianDay(jd int) Time {
	var c int
	b := 0
	if jd >= gregorian {
		a := jd + 32044
		b = (4*a + 3) / 146097
		c = a - 146097*b/4
	} else {
		c = jd + 32082
	}
	d := (4*c + 3) / 1461
	e := c - 1461*d/4
	m := (5*e + 2) / 153
	t := Time{Day: e - (153*m+2)/5 + 1, Month: m + 3 - 12*(m/10), Year: 100*b + d - 4800 + m/10}
	if t.Year <= 0 {
		t.Year--
	}
	return t
}

const secondsPerDay = 24 * 60 * 60

// SecondOfDay is the seconds since midnight.
func (t Time) SecondOfDay() int { return t.Hour*3600 + t.Minute*60 + t.Sec }

// AddSeconds moves t; the fraction stays.
func (t Time) AddSeconds(s int64) Time {
	total := int64(t.JulianDay())*secondsPerDay + int64(t.SecondOfDay()) + s
	day := total / secondsPerDay
	rest := int(total % secondsPerDay)
	if rest < 0 {
		rest += secondsPerDay
		day--
	}
	r := FromJulianDay(int(day))
	r.Hour, r.Minute, r.Sec, r.Nano = rest/3600, rest/60%60, rest%60, t.Nano
	return r
}

// AddNanos moves t by nanoseconds.
func (t Time) AddNanos(n int64) Time {
	n += int64(t.Nano)
	s := n / int64(time.Second)
	n -= s * int64(time.Second)
	if n < 0 {
		n += int64(time.Second)
		s--
	}
	t = t.AddSeconds(s)
	t.Nano = int(n)
	return t
}

// Seconds is the whole seconds since the Julian epoch: differences of two are exact.
func (t Time) Seconds() int64 {
	return int64(t.JulianDay())*secondsPerDay + int64(t.SecondOfDay())
}

// RoundFraction rounds the fraction of a second half up to the given number of digits (0 to 9).
func (t Time) RoundFraction(digits int) Time {
	unit := 1
	for range 9 - digits {
		unit *= 10
	}
	rest := t.Nano % unit
	t.Nano -= rest
	if rest*2 >= unit && unit > 1 {
		return t.AddNanos(int64(unit))
	}
	return t
}

// DaysIn is the length of a month. October 1582 has its 31 numbers, of which the 5th to 14th do not exist.
func DaysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if leap(year) {
			return 29
		}
		return 28
	}
	return 31
}

func leap(year int) bool {
	if year < 0 {
		year++
	}
	if year < 1582 {
		return year%4 == 0
	}
	return year%4 == 0 && year%100 != 0 || year%400 == 0
}

// FromGo takes the wall clock of a Go time in its own zone.
func FromGo(t time.Time) Time {
	return Time{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()}
}

// Go gives the same wall clock as a Go time in UTC. Years before 1582-10-15 keep their day number, not their
// date.
func (t Time) Go() time.Time {
	const unixEpoch = 2440588 // Julian day of 1970-01-01
	days := int64(t.JulianDay() - unixEpoch)
	return time.Unix(days*secondsPerDay+int64(t.SecondOfDay()), int64(t.Nano)).UTC()
}
