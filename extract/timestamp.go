package extract

import (
	"fmt"
	"strings"
	"time"
)

// Days of a timestamp. Years before 1 and after 9999 have no canonical text and are refused where they are met.
const (
	MinDay = -719162 // 0001-01-01
	MaxDay = 2932896 // 9999-12-31

	secondsPerDay = 24 * 60 * 60
	nanosPerDay   = secondsPerDay * 1_000_000_000
)

// timestampLayout leaves out a fraction of zero and its trailing zeros.
const timestampLayout = "2006-01-02 15:04:05.999999999"

// AppendTimestamp appends the canonical text of a day and a nanosecond of day: "2006-01-02 15:04:05", with the
// fraction, without trailing zeros, when it is not zero. Texts of timestamps sort as the timestamps do.
func AppendTimestamp(dst []byte, day int32, nano int64) []byte {
	return time.Unix(int64(day)*secondsPerDay, nano).UTC().AppendFormat(dst, timestampLayout)
}

// FormatTimestamp is AppendTimestamp as a string.
func FormatTimestamp(day int32, nano int64) string { return string(AppendTimestamp(nil, day, nano)) }

// ParseTimestamp reads canonical text, and nothing but canonical text.
func ParseTimestamp(s string) (day int32, nano int64, err error) {
	t, err := time.Parse(timestampLayout, s)
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %q is not a timestamp as in 2026-09-28 23:59:59.5", ErrValue, clip(s))
	}
	day, nano, err = SplitTime(t)
	if err != nil {
		return 0, 0, err
	}
	if FormatTimestamp(day, nano) != s {
		return 0, 0, fmt.Errorf("%w: %q is not in canonical form, which is %q", ErrValue, clip(s), FormatTimestamp(day, nano))
	}
	return day, nano, nil
}

// SplitTime takes the wall clock of t, whatever its zone, apart. A year outside 1..9999 is ErrValue.
func SplitTime(t time.Time) (day int32, nano int64, err error) {
	if y := t.Year(); y < 1 || y > 9999 {
		return 0, 0, fmt.Errorf("%w: year %d is outside 0001..9999", ErrValue, y)
	}
	_, offset := t.Zone()
	wall := t.Unix() + int64(offset)
	days := wall / secondsPerDay
	rest := wall % secondsPerDay
	if rest < 0 {
		days, rest = days-1, rest+secondsPerDay
	}
	return int32(days), rest*1_000_000_000 + int64(t.Nanosecond()), nil
}

// CanonicalTimestamp drops the trailing zeros that a source's fixed-width text has after the point.
func CanonicalTimestamp(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
