package sql

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// timeLiteral reads DATE 'YYYY-MM-DD' and TIMESTAMP 'YYYY-MM-DD HH24:MI:SS[.FF][ zone]'.
func (p *parser) timeLiteral(word, t token) node {
	text := strings.TrimSpace(t.text)
	if word.text == "DATE" {
		w, err := parseTime(text, "SYYYY-MM-DD", parseContext{})
		if err != nil {
			p.failTime(t.pos, err)
		}
		return &literal{loc(word.pos), ora.Type{Code: ora.Date, Bytes: 7}, w.wall.EncodeDate()}
	}
	format := "SYYYY-MM-DD HH24:MI:SSXFF"
	body := text
	if i := strings.IndexByte(body, ' '); i >= 0 {
		clock := body[i+1:]
		if j := strings.IndexAny(clock, " +-"); j >= 0 {
			body = body[:i+1] + clock[:j]
		}
	}
	zoneText := strings.TrimSpace(text[len(body):])
	if !strings.Contains(body, ".") {
		format = "SYYYY-MM-DD HH24:MI:SS"
	}
	w, err := parseTime(body, format, parseContext{})
	if err != nil {
		p.failTime(t.pos, err)
	}
	digits := int8(9)
	if zoneText == "" {
		return &literal{loc(word.pos), ora.Type{Code: ora.Timestamp, Scale: digits, Bytes: 11}, w.wall.EncodeTimestamp()}
	}
	name, abbreviation, _ := strings.Cut(zoneText, " ")
	z, err := parseZone(name)
	if err == nil && z.region == nil && abbreviation != "" {
		err = noRegion()
	}
	if err != nil {
		p.failTime(t.pos, err)
	}
	at, err := z.named(w.wall, abbreviation)
	if err != nil {
		p.failTime(t.pos, err)
	}
	return &literal{loc(word.pos), ora.Type{Code: ora.TimestampTZ, Scale: digits, Bytes: 13}, at.encodeTZ()}
}

// failTime raises what a conversion said, at a position.
func (p *parser) failTime(pos int, err error) {
	e := asOra(err)
	p.failAt(pos, e.Code, "%s", e.Text)
}

// intervalLiteral reads INTERVAL '1' DAY, '1 02:03:04.5' DAY TO SECOND, '1-2' YEAR TO MONTH and the like.
func (p *parser) intervalLiteral(word, t token) node {
	from, leading, fraction := p.intervalField()
	to := from
	if p.words("TO") {
		to, fraction, _ = p.intervalField()
	}
	text := strings.TrimSpace(t.text)
	neg := strings.HasPrefix(text, "-")
	text = strings.TrimLeft(text, "+-")
	if from == "YEAR" || from == "MONTH" {
		months, ok := parseMonths(text, from, to)
		if !ok {
			p.failAt(t.pos, 1867, "the interval is invalid")
		}
		if neg {
			months = -months
		}
		return p.fitted(word, t, ora.Type{Code: ora.IntervalYM, Precision: uint8(cmp.Or(leading, 2)), Bytes: 5}, ora.EncodeMonths(months))
	}
	span, ok := parseSpan(text, from, to)
	if !ok {
		p.failAt(t.pos, 1867, "the interval is invalid")
	}
	if neg {
		span = ora.Span{Seconds: -span.Seconds, Nanos: -span.Nanos}
	}
	typ := ora.Type{Code: ora.IntervalDS, Precision: uint8(cmp.Or(leading, 2)), Bytes: 11}
	if to == "SECOND" {
		typ.Scale = int8(cmp.Or(fraction, 6))
	}
	return p.fitted(word, t, typ, span.Encode())
}

// fitted is a literal of an interval that must fit its precision.
func (p *parser) fitted(word, t token, typ ora.Type, v ora.Value) node {
	v, err := fitInterval(typ, v)
	if err != nil {
		p.failTime(t.pos, err)
	}
	return &literal{loc(word.pos), typ, v}
}

// intervalField takes YEAR, MONTH, DAY, HOUR, MINUTE or SECOND with up to two precisions; 0 is none.
func (p *parser) intervalField() (field string, first, second int) {
	t := p.next()
	switch t.text {
	case "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND":
	default:
		p.failAt(t.pos, 905, "missing keyword")
	}
	if p.symbol("(") {
		first = p.integer()
		if p.symbol(",") {
			second = p.integer()
		}
		p.close()
	}
	if first < 0 || first > 9 || second < 0 || second > 9 {
		p.failAt(t.pos, 30088, "datetime/interval precision is out of range")
	}
	return t.text, first, second
}

func parseMonths(text, from, to string) (int, bool) {
	years, months, both := strings.Cut(text, "-")
	if both != (from == "YEAR" && to == "MONTH") {
		return 0, false
	}
	if from == "MONTH" {
		years, months = "0", years
	}
	if months == "" {
		months = "0"
	}
	y, err1 := strconv.Atoi(years)
	m, err2 := strconv.Atoi(months)
	return y*12 + m, err1 == nil && err2 == nil && y >= 0 && y < 1e9 && m >= 0 && m < 1e9 && (!both || m < 12)
}

// parseSpan reads the fields from..to of a day-to-second interval.
func parseSpan(text, from, to string) (ora.Span, bool) {
	fields := [...]string{"DAY", "HOUR", "MINUTE", "SECOND"}
	weights := [...]int64{86400, 3600, 60, 1}
	first, last := -1, -1
	for i, f := range fields {
		if f == from {
			first = i
		}
		if f == to {
			last = i
		}
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ':' })
	if first < 0 || last < first || len(parts) != last-first+1 {
		return ora.Span{}, false
	}
	var span ora.Span
	for i, part := range parts {
		f := first + i
		whole, frac, _ := strings.Cut(part, ".")
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 || frac != "" && f != 3 || len(frac) > 9 {
			return ora.Span{}, false
		}
		span.Seconds += n * weights[f]
		if frac != "" {
			nanos, err := strconv.Atoi(frac + strings.Repeat("0", 9-len(frac)))
			if err != nil {
				return ora.Span{}, false
			}
			span.Nanos = nanos
		}
	}
	return span, true
}
