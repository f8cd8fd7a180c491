package config

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Date is a calendar date, the business key of a run. The zero Date is none.
type Date struct{ day time.Time } // midnight UTC: a date has no zone

const dateLayout = time.DateOnly

// firstYear is the last one of the Julian calendar, which Oracle follows and Hive does not.
const firstYear = 1582

var relativeDate = regexp.MustCompile(`^today-(\d{1,5})$`)

// ParseDate reads 2026-09-28, today, yesterday or today-N. now is the instant of asking; loc is the zone in
// which the day is looked up (a job's own), so that the host's zone plays no part.
func ParseDate(text string, now time.Time, loc *time.Location) (Date, error) {
	t := strings.ToLower(strings.TrimSpace(text))
	back := -1
	switch m := relativeDate.FindStringSubmatch(t); {
	case t == "today":
		back = 0
	case t == "yesterday":
		back = 1
	case m != nil:
		back, _ = strconv.Atoi(m[1])
	}
	if back >= 0 {
		y, m, d := now.In(loc).Date()
		return Date{time.Date(y, m, d-back, 0, 0, 0, 0, time.UTC)}, nil
	}
	var d Date
	if err := d.UnmarshalText([]byte(t)); err != nil {
		return Date{}, err
	}
	return d, nil
}

// UnmarshalText reads 2026-09-28.
func (d *Date) UnmarshalText(text []byte) error {
	day, err := time.Parse(dateLayout, string(text))
	if err != nil {
		return refuse("%.40q is not a date", text).hint("write 2026-09-28, today, yesterday or today-2")
	}
	if day.Year() <= firstYear {
		return refuse("%q is before %d", text, firstYear+1).hint("until 1582 Oracle and Hive count by different calendars")
	}
	d.day = day
	return nil
}

// IsZero says that there is no date.
func (d Date) IsZero() bool { return d.day.IsZero() }

// String is the date as 2026-09-28.
func (d Date) String() string { return d.format(dateLayout) }

func (d Date) format(layout string) string { return d.day.Format(layout) }

// MarshalText is String.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Add is the date n days later.
func (d Date) Add(n int) Date { return Date{d.day.AddDate(0, 0, n)} }
