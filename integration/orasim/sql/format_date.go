package sql

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// dateFormat is a compiled datetime format model.
type dateFormat struct {
	elements []dateElement
	exact    bool // FX
}

// dateElement is one element of a format, or literal text when code is "".
type dateElement struct {
	code   string // upper-case; FF is followed by its digit in digits
	text   string // as written: its case says how names are written; the literal for code ""
	digits int    // FF: how many; -1: as the type has
	fill   bool   // without FM: padded with blanks and zeros
	quoted bool   // literal from "..."
}

// dateCodes are the known elements, longer ones before those they begin with.
func dateCodes() []string {
	return []string{
		"SYYYY", "Y,YYY", "YYYY", "YYY", "YY", "Y", "RRRR", "RR", "SCC", "CC", "IYYY", "IYY", "IY", "IW", "I",
		"B.C.", "A.D.", "BC", "AD", "A.M.", "P.M.", "AM", "PM", "Q", "MONTH", "MON", "MM", "MI", "RM", "WW", "W",
		"DDD", "DD", "DAY", "DY", "D", "J", "HH24", "HH12", "HH", "SSSSS", "SS", "FF", "X", "TZH", "TZM", "TZR", "TZD",
	}
}

// compileDateFormat reads a format model; ORA-01821 for an element that is not known.
func compileDateFormat(text string) (*dateFormat, error) {
	f := &dateFormat{}
	fill := true
	codes := dateCodes()
	for at := 0; at < len(text); {
		rest := text[at:]
		upper := strings.ToUpper(rest[:min(len(rest), 6)])
		switch {
		case strings.HasPrefix(upper, "FM"):
			fill = !fill
			at += 2
			continue
		case strings.HasPrefix(upper, "FX"):
			f.exact = !f.exact
			at += 2
			continue
		case rest[0] == '"':
			end := strings.IndexByte(rest[1:], '"')
			if end < 0 {
				return nil, ora.Errorf(1821, "date format not recognized")
			}
			f.elements = append(f.elements, dateElement{text: rest[1 : 1+end], quoted: true})
			at += end + 2
			continue
		}
		e, ok := dateElementAt(codes, rest, upper)
		if !ok {
			return nil, ora.Errorf(1821, "date format not recognized")
		}
		at += len(e.text)
		e.fill = fill
		if e.code == "FF" {
			e.digits = -1
			if at < len(text) && text[at] >= '1' && text[at] <= '9' {
				e.digits = int(text[at] - '0')
				at++
			}
		}
		f.elements = append(f.elements, e)
	}
	return f, nil
}

func dateElementAt(codes []string, rest, upper string) (dateElement, bool) {
	for _, code := range codes {
		if strings.HasPrefix(upper, code) {
			return dateElement{code: code, text: rest[:len(code)]}, true
		}
	}
	if c := rest[0]; c < 0x80 && !unicode.IsLetter(rune(c)) && !isDigit(c) {
		return dateElement{text: rest[:1]}, true
	}
	return dateElement{}, false
}

func monthNames() []string {
	return []string{"JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER", "OCTOBER",
		"NOVEMBER", "DECEMBER"}
}

func dayNames() []string {
	return []string{"SUNDAY", "MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY"}
}

func romanMonths() []string {
	return []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}
}

// zoned is a datetime with what its type knows of the zone.
type zoned struct {
	wall   ora.Time
	offset int         // minutes east of UTC
	region *ora.Region // nil: the zone is the offset
	zone   bool        // offset is part of the value
	digits int         // fraction digits of the type
}

// format writes a time.
func (f *dateFormat) format(t zoned, n *nls) string {
	var b strings.Builder
	for i := range f.elements {
		f.elements[i].write(&b, t, n)
	}
	return b.String()
}

func (e *dateElement) write(b *strings.Builder, t zoned, n *nls) {
	w := t.wall
	year := w.Year
	if year < 0 && e.code != "SYYYY" {
		year = -year
	}
	switch e.code {
	case "":
		b.WriteString(e.text)
	case "SYYYY":
		e.number(b, year, 4, true)
	case "YYYY", "RRRR":
		e.number(b, year, 4, false)
	case "Y,YYY":
		fmt.Fprintf(b, "%d,%03d", year/1000, year%1000)
	case "YYY":
		e.number(b, year%1000, 3, false)
	case "YY", "RR":
		e.number(b, year%100, 2, false)
	case "Y":
		e.number(b, year%10, 1, false)
	case "IYYY", "IYY", "IY", "I":
		y, _ := isoWeek(w)
		mod := map[string]int{"IYYY": 10000, "IYY": 1000, "IY": 100, "I": 10}[e.code]
		e.number(b, y%mod, len(e.code), false)
	case "SCC", "CC":
		e.number(b, (year+99)/100, 2, e.code == "SCC")
	case "BC", "AD", "B.C.", "A.D.":
		e.era(b, w.Year < 0, "BC", "AD")
	case "AM", "PM", "A.M.", "P.M.":
		e.era(b, w.Hour < 12, "AM", "PM")
	case "TZH", "TZM", "TZR", "TZD":
		e.writeZone(b, t)
	case "FF":
		digits := e.digits
		if digits < 0 {
			digits = t.digits
		}
		b.WriteString(fmt.Sprintf("%09d", w.Nano)[:digits])
	case "X":
		b.WriteByte(n.decimal)
	default:
		e.writeDay(b, w)
	}
}

// writeDay writes the elements of the day and the clock.
func (e *dateElement) writeDay(b *strings.Builder, w ora.Time) {
	jd := w.JulianDay()
	yearDay := jd - ora.Time{Year: w.Year, Month: 1, Day: 1}.JulianDay() + 1
	switch e.code {
	case "Q":
		e.number(b, (w.Month+2)/3, 1, false)
	case "MM":
		e.number(b, w.Month, 2, false)
	case "MONTH":
		e.name(b, monthNames()[w.Month-1], 9)
	case "MON":
		e.name(b, monthNames()[w.Month-1][:3], 3)
	case "RM":
		e.name(b, romanMonths()[w.Month-1], 4)
	case "WW":
		e.number(b, (yearDay+6)/7, 2, false)
	case "IW":
		_, week := isoWeek(w)
		e.number(b, week, 2, false)
	case "W":
		e.number(b, (w.Day+6)/7, 1, false)
	case "DDD":
		e.number(b, yearDay, 3, false)
	case "DD":
		e.number(b, w.Day, 2, false)
	case "DAY":
		e.name(b, dayNames()[(jd+1)%7], 9)
	case "DY":
		e.name(b, dayNames()[(jd+1)%7][:3], 3)
	case "D":
		e.number(b, (jd+1)%7+1, 1, false)
	case "J":
		e.number(b, jd, 7, false)
	case "HH24":
		e.number(b, w.Hour, 2, false)
	case "HH", "HH12":
		e.number(b, (w.Hour+11)%12+1, 2, false)
	case "MI":
		e.number(b, w.Minute, 2, false)
	case "SS":
		e.number(b, w.Sec, 2, false)
	case "SSSSS":
		e.number(b, w.SecondOfDay(), 5, false)
	}
}

// isoWeek is the ISO year and week of a day.
func isoWeek(w ora.Time) (year, week int) {
	jd := w.JulianDay()
	thursday := ora.FromJulianDay(jd - jd%7 + 3) // jd%7 is 0 on Monday
	first := ora.Time{Year: thursday.Year, Month: 1, Day: 1}.JulianDay()
	return thursday.Year, (thursday.JulianDay()-first)/7 + 1
}

// number writes zero-padded digits, and a sign place when signed is set.
func (e *dateElement) number(b *strings.Builder, i, width int, signed bool) {
	if signed {
		switch {
		case i < 0:
			b.WriteByte('-')
			i = -i
		case e.fill:
			b.WriteByte(' ')
		}
	}
	if !e.fill {
		width = 1
	}
	fmt.Fprintf(b, "%0*d", width, i)
}

// name writes a name in the case of the format, blank-padded.
func (e *dateElement) name(b *strings.Builder, s string, width int) {
	s = e.inCase(s)
	if e.fill {
		s += strings.Repeat(" ", max(width-len(s), 0))
	}
	b.WriteString(s)
}

func (e *dateElement) inCase(s string) string {
	switch {
	case unicode.IsLower(rune(e.text[0])):
		return strings.ToLower(s)
	case len(e.text) > 1 && unicode.IsLower(rune(e.text[1])):
		return s[:1] + strings.ToLower(s[1:])
	}
	return s
}

func (e *dateElement) era(b *strings.Builder, first bool, yes, no string) {
	s := no
	if first {
		s = yes
	}
	if strings.Contains(e.code, ".") {
		s = s[:1] + "." + s[1:] + "."
	}
	if unicode.IsLower(rune(e.text[0])) {
		s = strings.ToLower(s)
	}
	b.WriteString(s)
}

func (e *dateElement) writeZone(b *strings.Builder, t zoned) {
	text := ora.OffsetText(t.offset)
	switch e.code {
	case "TZH":
		b.WriteString(text[:3])
	case "TZM":
		b.WriteString(text[4:])
	case "TZR":
		b.WriteString(t.of().text())
	case "TZD":
		if t.region != nil {
			b.WriteString(t.region.Abbreviation(t.utc()))
		}
	}
}
