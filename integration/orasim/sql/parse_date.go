package sql

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// parseContext is what the text of a time leaves open.
type parseContext struct {
	now ora.Time // for the year and month, and the century of RR; a zero Year means 2026-01
	nls *nls
}

// parseTime reads a text by a format model given as text.
func parseTime(text, format string, ctx parseContext) (zoned, error) {
	f, err := compileDateFormat(format)
	if err != nil {
		return zoned{}, err
	}
	return f.parse(text, ctx)
}

// timeReader holds what has been read so far.
type timeReader struct {
	rest  string
	ctx   parseContext
	exact bool

	year, month, day, yearDay, julian int // julian, yearDay: 0 when not given
	hour, minute, sec, nano           int
	hour12, pm, bc, meridian          bool
	zoneHour, zoneMinute              int
	zone, negativeZone                bool
	region                            *ora.Region
	abbreviation                      string // TZD
}

// parse reads a text: the errors are those of TO_DATE.
func (f *dateFormat) parse(text string, ctx parseContext) (zoned, error) {
	r := &timeReader{rest: strings.TrimSpace(text), ctx: ctx, exact: f.exact, day: 1}
	if r.ctx.now.Year == 0 {
		r.ctx.now = ora.Time{Year: 2026, Month: 1, Day: 1}
	}
	r.year, r.month = r.ctx.now.Year, r.ctx.now.Month
	for i := range f.elements {
		e := &f.elements[i]
		if r.rest == "" {
			if e.optional() {
				continue
			}
			return zoned{}, ora.Errorf(1840, "input value not long enough for date format")
		}
		if err := r.read(e); err != nil {
			return zoned{}, err
		}
	}
	if strings.TrimSpace(r.rest) != "" {
		return zoned{}, ora.Errorf(1830, "date format picture ends before converting entire input string")
	}
	return r.result()
}

// optional says whether the end of the text may come before an element: the clock is then midnight.
func (e *dateElement) optional() bool {
	switch e.code {
	case "", "HH24", "HH12", "HH", "MI", "SS", "FF", "X", "AM", "PM", "A.M.", "P.M.", "TZH", "TZM", "TZR", "TZD":
		return true
	}
	return false
}

func (r *timeReader) read(e *dateElement) error {
	if e.code == "" {
		return r.literal(e)
	}
	if e.code != "X" {
		r.rest = strings.TrimLeft(r.rest, " ")
	}
	var err error
	switch e.code {
	case "SYYYY", "YYYY", "YYY", "YY", "Y", "RR", "RRRR":
		return r.readYear(e.code)
	case "MM", "MON", "MONTH", "RM":
		return r.readMonth(e.code)
	case "DD":
		r.day, err = r.integer(2)
	case "DDD":
		r.yearDay, err = r.integer(3)
	case "J":
		r.julian, err = r.integer(7)
	case "DAY", "DY":
		return r.readDayName()
	case "HH24", "HH", "HH12":
		r.hour12 = e.code != "HH24"
		r.hour, err = r.integer(2)
	case "MI":
		r.minute, err = r.integer(2)
	case "SS":
		r.sec, err = r.integer(2)
	case "SSSSS":
		var s int
		s, err = r.integer(5)
		r.hour, r.minute, r.sec = s/3600, s/60%60, s%60
	case "FF":
		return r.readFraction(e.digits)
	case "X":
		if c := r.rest[0]; c == '.' || c == ',' {
			r.rest = r.rest[1:]
		}
	case "AM", "PM", "A.M.", "P.M.":
		r.meridian = true
		r.pm, err = r.eitherOf("AM", "PM", 1855, "AM/A.M. or PM/P.M. required")
	case "BC", "AD", "B.C.", "A.D.":
		var ad bool
		ad, err = r.eitherOf("BC", "AD", 1856, "BC/B.C. or AD/A.D. required")
		r.bc = !ad
	case "TZH", "TZM", "TZR", "TZD":
		return r.readZone(e.code)
	default:
		return ora.Errorf(1820, "format code cannot appear in date input format")
	}
	return err
}

// literal skips punctuation of the format: any punctuation of the text matches it, and none may be there.
func (r *timeReader) literal(e *dateElement) error {
	if e.quoted || r.exact {
		if !strings.HasPrefix(r.rest, e.text) {
			return ora.Errorf(1861, "literal does not match format string")
		}
		r.rest = r.rest[len(e.text):]
		return nil
	}
	c := rune(r.rest[0])
	if unicode.IsLetter(c) || unicode.IsDigit(c) || c >= 0x80 {
		return nil // "T" between date and time must be quoted, a missing separator is allowed
	}
	if (c == '-' || c == '+') && e.text == " " {
		return nil // the sign of what follows
	}
	r.rest = r.rest[1:]
	return nil
}

// integer reads 1 to width digits.
func (r *timeReader) integer(width int) (int, error) {
	n := 0
	for n < len(r.rest) && n < width && isDigit(r.rest[n]) {
		n++
	}
	if n == 0 {
		return 0, ora.Errorf(1858, "a non-numeric character was found where a numeric was expected")
	}
	if r.exact && n < width {
		return 0, ora.Errorf(1862, "the numeric value does not match the length of the format item")
	}
	i, _ := strconv.Atoi(r.rest[:n]) // at most 9 digits
	r.rest = r.rest[n:]
	return i, nil
}

func (r *timeReader) readYear(code string) error {
	neg := false
	if code == "SYYYY" && r.rest != "" && (r.rest[0] == '-' || r.rest[0] == '+') {
		neg = r.rest[0] == '-'
		r.rest = r.rest[1:]
	}
	width := len(strings.TrimPrefix(code, "S"))
	before := len(r.rest)
	if code == "YY" || code == "RR" { // four digits are taken for two
		if len(r.rest) >= 4 && allDigitsIn(r.rest[:4]) && (len(r.rest) == 4 || !isDigit(r.rest[4])) {
			width = 4
		}
	}
	y, err := r.integer(width)
	if err != nil {
		return err
	}
	read := before - len(r.rest)
	now := r.ctx.now.Year
	switch {
	case read > 2 && (code == "YY" || code == "RR"):
	case code == "RR" || code == "RRRR" && read <= 2:
		y += centuryOf(now, y)
	case code == "YYY" || code == "YY" || code == "Y":
		unit := map[string]int{"YYY": 1000, "YY": 100, "Y": 10}[code]
		y += now - now%unit
	}
	if neg {
		y = -y
	}
	r.year = y
	return nil
}

func allDigitsIn(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}

// centuryOf is the century that RR gives a two-digit year.
func centuryOf(now, yy int) int {
	century := now - now%100
	switch {
	case now%100 < 50 && yy >= 50:
		return century - 100
	case now%100 >= 50 && yy < 50:
		return century + 100
	}
	return century
}

func (r *timeReader) readMonth(code string) error {
	if r.rest != "" && isDigit(r.rest[0]) {
		if code != "MM" {
			return ora.Errorf(1843, "not a valid month")
		}
		m, err := r.integer(2)
		r.month = m
		return err
	}
	upper := strings.ToUpper(r.rest)
	if code == "RM" {
		word := upper[:len(upper)-len(strings.TrimLeft(upper, "IVX"))]
		if i := slices.Index(romanMonths(), word); i >= 0 {
			r.month, r.rest = i+1, r.rest[len(word):]
			return nil
		}
		return ora.Errorf(1843, "not a valid month")
	}
	for i, name := range monthNames() {
		for _, n := range []string{name, name[:3]} {
			if strings.HasPrefix(upper, n) {
				r.month, r.rest = i+1, r.rest[len(n):]
				return nil
			}
		}
	}
	if code == "MM" && (r.rest == "" || !unicode.IsLetter(rune(r.rest[0]))) {
		return ora.Errorf(1858, "a non-numeric character was found where a numeric was expected")
	}
	return ora.Errorf(1843, "not a valid month")
}

func (r *timeReader) readDayName() error {
	upper := strings.ToUpper(r.rest)
	for _, name := range dayNames() {
		for _, n := range []string{name, name[:3]} {
			if strings.HasPrefix(upper, n) {
				r.rest = r.rest[len(n):]
				return nil
			}
		}
	}
	return ora.Errorf(1846, "not a valid day of the week")
}

func (r *timeReader) readFraction(digits int) error {
	n := 0
	for n < len(r.rest) && isDigit(r.rest[n]) && n < 9 {
		n++
	}
	if n == 0 {
		return ora.Errorf(1858, "a non-numeric character was found where a numeric was expected")
	}
	if digits > 0 && n > digits {
		return ora.Errorf(1880, "the fractional seconds must be between 0 and 999999999")
	}
	r.nano, _ = strconv.Atoi(r.rest[:n] + strings.Repeat("0", 9-n))
	r.rest = r.rest[n:]
	return nil
}

// eitherOf reads one of two marks, with or without points; true is the second.
func (r *timeReader) eitherOf(first, second string, code int, text string) (bool, error) {
	upper := strings.ToUpper(r.rest)
	for i, mark := range []string{first, second} {
		for _, m := range []string{mark, mark[:1] + "." + mark[1:] + "."} {
			if strings.HasPrefix(upper, m) {
				r.rest = r.rest[len(m):]
				return i == 1, nil
			}
		}
	}
	return false, ora.Errorf(code, "%s", text)
}

func (r *timeReader) readZone(code string) error {
	r.zone = true
	switch code {
	case "TZR":
		word, rest, found := strings.Cut(r.rest, " ")
		z, err := parseZone(word)
		if err != nil {
			return err
		}
		r.region, r.negativeZone = z.region, z.minutes < 0
		minutes := max(z.minutes, -z.minutes)
		r.zoneHour, r.zoneMinute = minutes/60, minutes%60
		r.rest = rest
		if found {
			r.rest = " " + rest
		}
		return nil
	case "TZD":
		word := r.rest
		r.rest = strings.TrimLeftFunc(r.rest, unicode.IsLetter)
		r.abbreviation = word[:len(word)-len(r.rest)]
		return nil
	case "TZH":
		if c := r.rest[0]; c == '-' || c == '+' {
			r.negativeZone = c == '-'
			r.rest = r.rest[1:]
		}
		h, err := r.integer(2)
		r.zoneHour = h
		return err
	}
	m, err := r.integer(2)
	r.zoneMinute = m
	return err
}

// result checks the parts and puts them together.
func (r *timeReader) result() (zoned, error) {
	if err := r.clock(); err != nil {
		return zoned{}, err
	}
	day, err := r.date()
	if err != nil {
		return zoned{}, err
	}
	t := zoned{wall: ora.FromJulianDay(day), digits: 9}
	t.wall.Hour, t.wall.Minute, t.wall.Sec, t.wall.Nano = r.hour, r.minute, r.sec, r.nano
	if r.zone {
		t.zone, t.offset = true, r.zoneHour*60+r.zoneMinute
		if r.negativeZone {
			t.offset = -t.offset
		}
		if r.zoneHour > 15 || r.zoneMinute > 59 {
			return zoned{}, ora.Errorf(1874, "time zone hour must be between -15 and 15")
		}
		if r.region != nil {
			return zone{region: r.region}.named(t.wall, r.abbreviation)
		}
	}
	return t, nil
}

func (r *timeReader) clock() error {
	switch {
	case r.hour12 && (r.hour < 1 || r.hour > 12) && !(r.hour == 0 && !r.meridian):
		return ora.Errorf(1849, "hour must be between 1 and 12")
	case r.hour > 23:
		return ora.Errorf(1850, "hour must be between 0 and 23")
	case r.minute > 59:
		return ora.Errorf(1851, "minutes must be between 0 and 59")
	case r.sec > 59:
		return ora.Errorf(1852, "seconds must be between 0 and 59")
	}
	if r.meridian && r.hour12 {
		r.hour %= 12
		if r.pm {
			r.hour += 12
		}
	}
	return nil
}

// date returns the Julian day. 1582-10-05 to 14, which never were, become ten days later, as in Oracle.
func (r *timeReader) date() (int, error) {
	if r.julian != 0 {
		if r.julian < 1 || r.julian > 5373484 {
			return 0, ora.Errorf(1854, "julian date must be between 1 and 5373484")
		}
		return r.julian, nil
	}
	y := r.year
	if r.bc && y > 0 {
		y = -y
	}
	switch {
	case y == 0 || y < ora.MinYear || y > ora.MaxYear:
		return 0, ora.Errorf(1841, "(full) year must be between -4713 and +9999, and not be 0")
	case r.yearDay != 0:
		first := ora.Time{Year: y, Month: 1, Day: 1}.JulianDay()
		if r.yearDay > (ora.Time{Year: y, Month: 12, Day: 31}.JulianDay() - first + 1) {
			return 0, ora.Errorf(1848, "day of year must be between 1 and 365 (366 for leap year)")
		}
		return first + r.yearDay - 1, nil
	case r.month < 1 || r.month > 12:
		return 0, ora.Errorf(1843, "not a valid month")
	case r.day < 1 || r.day > 31:
		return 0, ora.Errorf(1847, "day of month must be between 1 and last day of month")
	case r.day > ora.DaysIn(y, r.month):
		return 0, ora.Errorf(1839, "date not valid for month specified")
	}
	return ora.Time{Year: y, Month: r.month, Day: r.day}.JulianDay(), nil
}
