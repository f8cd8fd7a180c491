package referee

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// kind is how a value is compared: clients write the same value in several ways.
type kind int

const (
	kindText kind = iota
	kindNumber
	kindFloat
	kindDouble
	kindRaw
	kindTime  // DATE, TIMESTAMP, and TIMESTAMP WITH LOCAL TIME ZONE in UTC
	kindZoned // TIMESTAMP WITH TIME ZONE
	kindSpan
	kindMonths
)

// cell is a value as Oracle has it.
type cell struct {
	kind kind
	text string
	null bool
}

func (c cell) String() string {
	if c.null {
		return "NULL"
	}
	return c.text
}

// equal says whether a client that is able to so much gave the value.
func (c cell) equal(a able, got *string) bool {
	if c.null || got == nil {
		return c.null && got == nil
	}
	switch c.kind {
	case kindNumber:
		want, _ := new(big.Rat).SetString(c.text)
		n, ok := new(big.Rat).SetString(*got)
		return ok && n.Cmp(want) == 0
	case kindFloat:
		return sameFloat(c.text, *got, 32)
	case kindDouble:
		return sameFloat(c.text, *got, 64)
	case kindTime, kindZoned:
		return c.sameTime(a, *got)
	case kindSpan, kindMonths:
		return plainInterval(c.text) == plainInterval(*got)
	}
	return c.text == *got
}

func sameFloat(want, got string, bits int) bool {
	w, err1 := strconv.ParseFloat(want, bits)
	g, err2 := strconv.ParseFloat(got, bits)
	return err1 == nil && err2 == nil && (w == g || math.IsNaN(w) && math.IsNaN(g))
}

var moment = regexp.MustCompile(`^(-?\d+-\d\d-\d\d) (\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?\s*(Z|[+-]\d\d:\d\d)?$`)

// plainMoment separates the wall time, with a cut fraction, from the offset.
func plainMoment(s string, digits int) (wall, offset string, ok bool) {
	m := moment.FindStringSubmatch(s)
	if m == nil {
		return "", "", false
	}
	offset = m[5]
	if offset == "Z" {
		offset = "+00:00"
	}
	seconds := m[3]
	if seconds == "" {
		seconds = "00"
	}
	fraction := (m[4] + "000000000")[:digits]
	return fmt.Sprintf("%s %s:%s.%s", m[1], m[2], seconds, fraction), offset, true
}

func (c cell) sameTime(a able, got string) bool {
	text := c.text
	if c.kind == kindZoned && a.zone == zoneUTC {
		at, err := time.Parse("2006-01-02 15:04:05.999999999 -07:00", c.text)
		if err != nil {
			return false
		}
		text = at.UTC().Format("2006-01-02 15:04:05.999999999 -07:00")
	}
	wall, offset, ok := plainMoment(text, a.fraction)
	gotWall, gotOffset, ok2 := plainMoment(got, a.fraction)
	return ok && ok2 && wall == gotWall && (c.kind == kindTime || a.zone != zoneKept || offset == gotOffset)
}

// plainInterval drops what does not count: a plus, leading and trailing zeros.
func plainInterval(s string) string {
	s = strings.TrimPrefix(strings.TrimSpace(s), "+")
	whole, fraction, _ := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	parts := regexp.MustCompile(`\d+`).FindAllString(whole, -1)
	for i, p := range parts {
		parts[i] = strings.TrimLeft(p, "0")
	}
	return sign + strings.Join(parts, ":") + "." + strings.TrimRight(fraction, "0")
}

// differences compares an answer with what a check wants; at most a few of them.
func (w want) differences(a able, got answer) []string {
	const most = 5
	var out []string
	if got.Error != w.code {
		out = append(out, fmt.Sprintf("error %d (%s), want %d", got.Error, got.Message, w.code))
	}
	if w.position > 0 && got.Position >= 0 && got.Position != w.position {
		out = append(out, fmt.Sprintf("error position %d, want %d", got.Position, w.position))
	}
	if w.affected >= 0 && got.Affected != w.affected {
		out = append(out, fmt.Sprintf("%d rows affected, want %d", got.Affected, w.affected))
	}
	if w.columns != nil && fmt.Sprint(got.Columns) != fmt.Sprint(w.columns) {
		out = append(out, fmt.Sprintf("columns %q, want %q", got.Columns, w.columns))
	}
	if fmt.Sprint(got.Errors) != fmt.Sprint(w.errors) && (len(got.Errors) > 0 || len(w.errors) > 0) {
		out = append(out, fmt.Sprintf("batch errors %v, want %v", got.Errors, w.errors))
	}
	if w.rows == nil {
		return out
	}
	if len(got.Rows) != len(w.rows) {
		out = append(out, fmt.Sprintf("%d rows, want %d", len(got.Rows), len(w.rows)))
	}
	for i := range min(len(got.Rows), len(w.rows)) {
		if d := differ(a, got.Rows[i], w.rows[i]); d != "" && len(out) < most {
			out = append(out, fmt.Sprintf("row %d, %s", i, d))
		}
	}
	return out
}

func differ(a able, got []*string, want []cell) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d values, want %d", len(got), len(want))
	}
	for i := range want {
		if !want[i].equal(a, got[i]) {
			g := "NULL"
			if got[i] != nil {
				g = *got[i]
			}
			return fmt.Sprintf("column %d: %.300q, want %.300q", i, g, want[i].String())
		}
	}
	return ""
}
