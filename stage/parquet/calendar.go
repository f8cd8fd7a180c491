package parquet

import (
	"fmt"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// Calendar says what the Julian day of an INT96 timestamp stands for before 1582-10-15. After that day all agree.
//
// Hive takes the days before it for dates of the Julian calendar, by both of its readers and whatever the footer
// says; Arrow, DuckDB, Trino and Spark go on with the Gregorian one (the proleptic calendar). A file can be right for
// one side only: 0001-01-01, the commonest of such dates, is two days off for the other.
type Calendar uint8

// Calendars. The footer says which one a file has, so that Reader reads both.
const (
	HiveCalendar      Calendar = iota // Julian before 1582-10-15: for files that Hive reads
	ProlepticCalendar                 // Gregorian throughout: for files that are read by anything else
)

const (
	calendarKey = "loadctl.int96.calendar"

	// julianEpoch is the Julian day number of 1970-01-01.
	julianEpoch = 2440588
	// firstGregorian is 1582-10-15, in days since 1970-01-01; the day before it was 1582-10-04.
	firstGregorian = -141427
	lastJulian     = firstGregorian - 11 // 1582-10-04 by its label, as the proleptic calendar counts
)

func (c Calendar) String() string {
	if c == ProlepticCalendar {
		return "proleptic"
	}
	return "hive"
}

// calendarOf reads the footer's word; a file without it is not ours and proleptic.
func calendarOf(word string, said bool) (Calendar, error) {
	switch {
	case !said || word == ProlepticCalendar.String():
		return ProlepticCalendar, nil
	case word == HiveCalendar.String():
		return HiveCalendar, nil
	default:
		return 0, fmt.Errorf("its timestamps are in a calendar %q: %w", word, stage.ErrMismatch)
	}
}

// julianDay is the INT96 day of a date that is given by its label, as days since 1970-01-01 in the proleptic
// calendar. Ten labels of October 1582 name no day of Hive's calendar.
func (c Calendar) julianDay(day int32) (uint32, error) {
	if day >= firstGregorian || c == ProlepticCalendar {
		return uint32(day + julianEpoch), nil
	}
	if day > lastJulian {
		return 0, fmt.Errorf("the calendar of Hive goes from 1582-10-04 to 1582-10-15: %w", extract.ErrValue)
	}
	y, m, d := date(day)
	return uint32(julianDayNumber(y, m, d)), nil
}

// day is the inverse of julianDay; ok is false for a day that has no label in the proleptic calendar, such as
// the Julian 1500-02-29.
func (c Calendar) day(julian uint32) (day int32, ok bool) {
	plain := int64(julian) - julianEpoch
	if plain < extract.MinDay-366 || plain > extract.MaxDay {
		return 0, false
	}
	if plain >= firstGregorian || c == ProlepticCalendar {
		return int32(plain), true
	}
	y, m, d := julianDate(int(julian))
	day = int32(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
	_, m2, d2 := date(day)
	return day, m2 == m && d2 == d
}

func date(day int32) (y, m, d int) {
	year, month, d := time.Unix(int64(day)*24*60*60, 0).UTC().Date()
	return year, int(month), d
}

// julianDayNumber counts the days to a date of the Julian calendar.
func julianDayNumber(y, m, d int) int {
	a := (14 - m) / 12 // 1 in January and February, which belong to the year before
	y += 4800 - a
	m += 12*a - 3
	return d + (153*m+2)/5 + 365*y + y/4 - 32083
}

// julianDate is the inverse of julianDayNumber (E. G. Richards' algorithm).
func julianDate(n int) (y, m, d int) {
	e := 4*(n+1401) + 3
	h := 5*(e%1461/4) + 2
	d = h%153/5 + 1
	m = (h/153+2)%12 + 1
	return e/1461 - 4716 + (14-m)/12, m, d
}
