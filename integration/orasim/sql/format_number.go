package sql

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// numberText is what TO_CHAR without a format makes of a number: up to 40 characters, no zero before the
// point, an exponent when it would be longer.
func numberText(x ora.Num, decimal byte) string {
	return plainOrScientific(x, decimal, 40)
}

// minimalText is TO_CHAR(x, 'TM9'): exact up to 64 characters.
func minimalText(x ora.Num, decimal byte) string {
	return plainOrScientific(x, decimal, 64)
}

// plainOrScientific writes digits and point, or, when more than width digits or zeros would stand on one side
// of the point, the exponent form. No digit is ever rounded away in the plain form.
func plainOrScientific(x ora.Num, decimal byte, width int) string {
	digits, point := x.Decimal()
	if digits == "" {
		return "0"
	}
	sign := ""
	if x.Sign() < 0 {
		sign = "-"
	}
	switch {
	case point > width || point < -width:
		return sign + scientific(digits, point, decimal, width)
	case point <= 0:
		return sign + string(decimal) + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits))
	}
	return sign + digits[:point] + string(decimal) + digits[point:]
}

// scientific writes d.dddE+nn in exactly width characters, as Oracle does.
func scientific(digits string, point int, decimal byte, width int) string {
	exponent := fmt.Sprintf("E%+03d", point-1)
	places := width - 2 - len(exponent)
	mantissa, _ := ora.ParseNum(digits[:1] + "." + digits[1:])
	mantissa, _ = mantissa.Round(places)
	d, p := mantissa.Decimal()
	if p == 2 { // 9.99... became 10
		exponent = fmt.Sprintf("E%+03d", point)
	}
	frac := d[1:]
	return d[:1] + string(decimal) + frac + strings.Repeat("0", max(places-len(frac), 0)) + exponent
}

// numberFormat is a compiled number format model.
type numberFormat struct {
	fill                 bool // without FM
	whole, frac          string
	sign                 string // "": leading when negative; "S": leading always; "-S", "MI", "PR"
	dollar, blank, local bool
	point                bool
	exponent             bool // EEEE
	hex                  int  // X: width
	hexZero, hexLower    bool
	minimal              string // TM, TM9, TME
}

func badNumberFormat() error { return ora.Errorf(1481, "invalid number format model") }

// compileNumberFormat reads a format model; ORA-01481 for one that is not known.
func compileNumberFormat(text string) (*numberFormat, error) {
	f := &numberFormat{fill: true}
	s := strings.ToUpper(text)
	if strings.HasPrefix(s, "FM") {
		f.fill, s = false, s[2:]
	}
	if s == "TM" || s == "TM9" || s == "TME" {
		f.minimal = s
		return f, nil
	}
	if h := strings.TrimLeft(s, "0"); h != "" && strings.Trim(h, "X") == "" {
		f.hex, f.hexZero = len(s), h != s
		f.hexLower = strings.Contains(text, "x")
		return f, nil
	}
	s = f.signs(s)
	if strings.HasSuffix(s, "EEEE") {
		f.exponent, s = true, strings.TrimSuffix(s, "EEEE")
	}
	whole := true
	for _, c := range s {
		switch c {
		case '9', '0', ',', 'G':
			if !whole && (c == ',' || c == 'G') {
				return nil, badNumberFormat()
			}
			if whole {
				f.whole += string(c)
			} else {
				f.frac += string(c)
			}
		case '.', 'D':
			if !whole {
				return nil, badNumberFormat()
			}
			whole, f.point = false, true
		case '$':
			f.dollar = true
		case 'L':
			f.local = true
		case 'B':
			f.blank = true
		default:
			return nil, badNumberFormat()
		}
	}
	if f.whole+f.frac == "" || len(f.whole)+len(f.frac) > 63 {
		return nil, badNumberFormat()
	}
	return f, nil
}

func (f *numberFormat) signs(s string) string {
	switch {
	case strings.HasPrefix(s, "S"):
		f.sign, s = "S", s[1:]
	case strings.HasSuffix(s, "S"):
		f.sign, s = "-S", s[:len(s)-1]
	case strings.HasSuffix(s, "MI"):
		f.sign, s = "MI", s[:len(s)-2]
	case strings.HasSuffix(s, "PR"):
		f.sign, s = "PR", s[:len(s)-2]
	}
	return s
}

func places(pattern string) int {
	return strings.Count(pattern, "9") + strings.Count(pattern, "0")
}

// format writes a number.
func (f *numberFormat) format(x ora.Num, n *nls) (string, error) {
	switch {
	case f.minimal == "TME":
		digits, point := x.Decimal()
		if digits == "" {
			return "0E+00", nil
		}
		sign := ""
		if x.Sign() < 0 {
			sign = "-"
		}
		frac := ""
		if len(digits) > 1 {
			frac = string(n.decimal) + digits[1:]
		}
		return sign + digits[:1] + frac + fmt.Sprintf("E%+03d", point-1), nil
	case f.minimal != "":
		return minimalText(x, n.decimal), nil
	case f.hex > 0:
		return f.formatHex(x)
	}
	abs := x.Abs()
	exponent := ""
	if f.exponent {
		digits, point := abs.Decimal()
		if digits == "" {
			digits, point = "0", 1
		}
		abs, _ = ora.ParseNum(digits[:1] + "." + digits[1:])
		exponent = fmt.Sprintf("E%+03d", point-1)
	}
	abs, err := abs.Round(places(f.frac))
	if err != nil {
		return "", err
	}
	whole, frac, _ := strings.Cut(abs.String(), ".")
	if whole == "0" {
		whole = ""
	}
	body, ok := f.body(whole, frac, n)
	if !ok {
		return strings.Repeat("#", f.width()), nil
	}
	if f.blank && whole == "" && strings.Trim(frac, "0") == "" {
		return strings.Repeat(" ", len(body)+1), nil
	}
	return f.withSign(body+exponent, x.Sign() < 0 && abs.Sign() != 0), nil
}

// width is how many characters a number takes.
func (f *numberFormat) width() int {
	n := 1 + len(f.whole) + len(f.frac)
	if f.point {
		n++
	}
	return n
}

// body lays the digits into the pattern; false when they do not fit.
func (f *numberFormat) body(whole, frac string, n *nls) (string, bool) {
	room := places(f.whole)
	if len(whole) > room {
		return "", false
	}
	// From the first 0 of the pattern on, zeros are shown; without a fraction at least one digit is.
	zerosFrom := room - len(whole)
	if i := strings.IndexByte(f.whole, '0'); i >= 0 {
		zerosFrom = min(zerosFrom, places(f.whole[:i]))
	} else if whole == "" && places(f.frac) == 0 {
		zerosFrom = room - 1
	}
	digits := strings.Repeat("0", room-len(whole)) + whole
	var b strings.Builder
	at := 0
	for _, c := range f.whole {
		switch {
		case c == ',' || c == 'G':
			if at > zerosFrom {
				b.WriteByte(groupChar(c, n))
			} else {
				b.WriteByte(' ')
			}
			continue
		case at >= zerosFrom:
			b.WriteByte(digits[at])
		default:
			b.WriteByte(' ')
		}
		at++
	}
	text := b.String()
	if f.dollar || f.local {
		trimmed := strings.TrimLeft(text, " ")
		text = strings.Repeat(" ", len(text)-len(trimmed)) + "$" + trimmed
	}
	if f.point {
		text += string(n.decimal) + f.fraction(frac)
	}
	return text, true
}

func groupChar(c rune, n *nls) byte {
	if c == ',' {
		return ','
	}
	return n.group
}

// fraction pads the digits after the point; with FM zeros at the end go where the pattern has a 9.
func (f *numberFormat) fraction(frac string) string {
	digits := frac + strings.Repeat("0", max(places(f.frac)-len(frac), 0))
	if f.fill {
		return digits
	}
	keep := strings.LastIndexByte(f.frac, '0') + 1
	for len(digits) > keep && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits
}

func (f *numberFormat) withSign(body string, neg bool) string {
	trimmed := strings.TrimLeft(body, " ")
	pad := body[:len(body)-len(trimmed)]
	either := func(minus, plus string) string {
		if neg {
			return minus
		}
		return plus
	}
	lead, tail := "", ""
	switch f.sign {
	case "":
		lead = either("-", " ")
	case "S":
		lead = either("-", "+")
	case "-S":
		tail = either("-", "+")
	case "MI":
		tail = either("-", " ")
	case "PR":
		lead, tail = either("<", " "), either(">", " ")
	}
	s := pad + lead + trimmed + tail
	if !f.fill {
		return strings.Trim(s, " ")
	}
	return s
}

func (f *numberFormat) formatHex(x ora.Num) (string, error) {
	r, err := x.Round(0)
	if err != nil {
		return "", err
	}
	i, _ := new(big.Int).SetString(r.String(), 10)
	s := fmt.Sprintf("%X", i)
	if f.hexLower {
		s = strings.ToLower(s)
	}
	if i.Sign() < 0 || len(s) > f.hex {
		return strings.Repeat("#", f.hex+1), nil
	}
	pad := " "
	if f.hexZero {
		pad = "0"
	}
	s = strings.Repeat(pad, f.hex-len(s)) + s
	if f.fill {
		return " " + s, nil
	}
	return strings.TrimLeft(s, " "), nil
}

// parse reads a text by the format, as TO_NUMBER does.
func (f *numberFormat) parse(text string, n *nls) (ora.Num, error) {
	s := strings.TrimSpace(text)
	if f.hex > 0 {
		i, ok := new(big.Int).SetString(s, 16)
		if !ok || len(s) > f.hex {
			return ora.Num{}, ora.ErrInvalidNumber
		}
		return ora.ParseNum(i.String())
	}
	if f.minimal != "" {
		return parseNumber(s, n)
	}
	neg := false
	switch {
	case f.sign == "PR" && strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">"):
		neg, s = true, s[1:len(s)-1]
	case (f.sign == "MI" || f.sign == "-S") && (strings.HasSuffix(s, "-") || strings.HasSuffix(s, "+")):
		neg, s = strings.HasSuffix(s, "-"), s[:len(s)-1]
	case (f.sign == "" || f.sign == "S") && s != "" && (s[0] == '-' || s[0] == '+'):
		neg, s = s[0] == '-', s[1:]
	}
	if f.dollar || f.local {
		s = strings.TrimPrefix(s, "$")
	}
	if strings.ContainsAny(f.whole, ",") {
		s = strings.ReplaceAll(s, ",", "")
	} else if strings.Contains(f.whole, "G") {
		s = strings.ReplaceAll(s, string(n.group), "")
	}
	s = strings.Replace(s, string(n.decimal), ".", 1)
	whole, frac, _ := strings.Cut(s, ".")
	if !f.exponent && (len(strings.TrimLeft(whole, "0")) > places(f.whole) || len(frac) > places(f.frac)) || strings.ContainsAny(s, "+- ") {
		return ora.Num{}, ora.ErrInvalidNumber
	}
	x, err := ora.ParseNum(s)
	if neg {
		x = x.Neg()
	}
	return x, err
}

// parseNumber is TO_NUMBER without a format.
func parseNumber(s string, n *nls) (ora.Num, error) {
	if n != nil && n.decimal != '.' {
		if strings.Contains(s, ".") {
			return ora.Num{}, ora.ErrInvalidNumber
		}
		s = strings.Replace(s, string(n.decimal), ".", 1)
	}
	return ora.ParseNum(strings.TrimSpace(s))
}
