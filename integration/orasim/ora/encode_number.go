package ora

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxDigits is the number of base-100 digits a NUMBER keeps: 39 or 40 decimal ones, depending on alignment.
const maxDigits = 20

// Exponents (powers of 100 of the first digit) that a NUMBER can hold: 1e-130 to 9.99...e125.
const (
	minExponent = -65
	maxExponent = 62
)

// ErrOverflow is a result outside the range of NUMBER (ORA-01426).
var ErrOverflow = errors.New("numeric overflow")

// ErrInvalidNumber is a text that is no number (ORA-01722).
var ErrInvalidNumber = errors.New("invalid number")

// Num is a decoded NUMBER: a sign, base-100 digits, and the power of 100 of the first. The zero Num is 0.
type Num struct {
	neg    bool
	exp    int16
	n      uint8
	digits [maxDigits]uint8 // most significant first; neither first nor last is 0
}

// DecodeNumber reads Oracle's internal form. The infinities, which only old clients write, are errors.
func DecodeNumber(v Value) (Num, error) {
	var x Num
	if len(v) == 0 || len(v) > maxDigits+1 {
		return x, fmt.Errorf("decode number: %d bytes", len(v))
	}
	if v[0] == 0x80 && len(v) == 1 {
		return x, nil
	}
	digits, head, base := v[1:], v[0], uint8(1)
	if head&0x80 == 0 {
		x.neg, head = true, ^head
		if len(digits) > 0 && digits[len(digits)-1] == 0x66 {
			digits = digits[:len(digits)-1]
		}
		base = 101
	}
	x.exp = int16(head&0x7f) + minExponent
	if len(digits) == 0 {
		return x, fmt.Errorf("decode number: no digits in % x", []byte(v))
	}
	for i, b := range digits {
		d := b - base
		if x.neg {
			d = base - b
		}
		if d > 99 {
			return x, fmt.Errorf("decode number: bad digit in % x", []byte(v))
		}
		x.digits[i] = d
	}
	x.n = uint8(len(digits))
	x.trim()
	return x, nil
}

// Append writes the internal form of x to dst.
func (x *Num) Append(dst Value) Value {
	if x.n == 0 {
		return append(dst, 0x80)
	}
	head := byte(0x80 + int(x.exp) - minExponent)
	if !x.neg {
		dst = append(dst, head)
		for _, d := range x.digits[:x.n] {
			dst = append(dst, d+1)
		}
		return dst
	}
	dst = append(dst, ^head)
	for _, d := range x.digits[:x.n] {
		dst = append(dst, 101-d)
	}
	if x.n < maxDigits {
		dst = append(dst, 0x66)
	}
	return dst
}

// Encode returns the internal form of x.
func (x Num) Encode() Value { return x.Append(make(Value, 0, int(x.n)+2)) }

// NumFromInt returns i as a NUMBER.
func NumFromInt(i int64) Num {
	var x Num
	u := uint64(i)
	if i < 0 {
		x.neg, u = true, -u
	}
	var rev [10]uint8
	n := 0
	for ; u > 0; u /= 100 {
		rev[n] = uint8(u % 100)
		n++
	}
	for i := range n {
		x.digits[i] = rev[n-1-i]
	}
	x.n, x.exp = uint8(n), int16(n-1)
	x.trim()
	return x
}

// EncodeInt is the internal form of an integer.
func EncodeInt(i int64) Value { return NumFromInt(i).Encode() }

// NumFromFloat converts a float by its shortest decimal text.
func NumFromFloat(f float64) (Num, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Num{}, ErrOverflow
	}
	return ParseNum(strconv.FormatFloat(f, 'e', -1, 64))
}

// ParseNum reads a decimal text with optional sign, point and exponent, blanks around it allowed, rounding to
// what a NUMBER keeps.
func ParseNum(s string) (Num, error) {
	s = strings.Trim(s, " ")
	neg := strings.HasPrefix(s, "-")
	if neg || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		e, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return Num{}, ErrInvalidNumber
		}
		exp, s = e, s[:i]
	}
	whole, frac, _ := strings.Cut(s, ".")
	if len(whole)+len(frac) == 0 || !allDigits(whole) || !allDigits(frac) {
		return Num{}, ErrInvalidNumber
	}
	return numFromDecimal(neg, []byte(whole+frac), len(whole)+exp)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// numFromDecimal builds 0.DDDD * 10^point from ASCII digits, rounding half away from zero.
func numFromDecimal(neg bool, dec []byte, point int) (Num, error) {
	for len(dec) > 0 && dec[0] == '0' {
		dec, point = dec[1:], point-1
	}
	if len(dec) == 0 {
		return Num{}, nil
	}
	exp := floorDiv(point-1, 2)
	odd := point - 1 - 2*exp // 0: the first base-100 digit holds one decimal digit
	buf := make([]int, 0, len(dec)/2+2)
	i := 0
	if odd == 0 {
		buf = append(buf, int(dec[0]-'0'))
		i = 1
	}
	for ; i < len(dec); i += 2 {
		d := int(dec[i]-'0') * 10
		if i+1 < len(dec) {
			d += int(dec[i+1] - '0')
		}
		buf = append(buf, d)
	}
	return normalise(neg, buf, exp)
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// normalise turns base-100 digits of any number, the first of weight 100^exp, into a Num: leading zeros go,
// what does not fit is rounded half away from zero.
func normalise(neg bool, buf []int, exp int) (Num, error) {
	for len(buf) > 0 && buf[0] == 0 {
		buf, exp = buf[1:], exp-1
	}
	if len(buf) == 0 {
		return Num{}, nil
	}
	if len(buf) > maxDigits {
		up := buf[maxDigits] >= 50
		buf = buf[:maxDigits]
		if up && increment(buf) {
			buf, exp = []int{1}, exp+1
		}
	}
	if exp > maxExponent {
		return Num{}, ErrOverflow
	}
	if exp < minExponent {
		return Num{}, nil // too small for a NUMBER: 0
	}
	x := Num{neg: neg, exp: int16(exp), n: uint8(len(buf))}
	for i, d := range buf {
		x.digits[i] = uint8(d)
	}
	x.trim()
	return x, nil
}

// increment adds one to the last digit; true means that every digit overflowed and the number is 1 with a
// larger exponent.
func increment(buf []int) bool {
	for i := len(buf) - 1; i >= 0; i-- {
		if buf[i]++; buf[i] < 100 {
			return false
		}
		buf[i] = 0
	}
	return true
}

// trim drops zero digits at both ends.
func (x *Num) trim() {
	for x.n > 0 && x.digits[0] == 0 {
		copy(x.digits[:], x.digits[1:x.n])
		x.n--
		x.digits[x.n] = 0
		x.exp--
	}
	for x.n > 0 && x.digits[x.n-1] == 0 {
		x.n--
	}
	if x.n == 0 {
		*x = Num{}
	}
}

// decimal returns the ASCII digits of |x| without zeros at either end and the place of the point: 0.DDD *
// 10^point.
func (x *Num) decimal() (dec []byte, point int) {
	dec = make([]byte, 0, 2*maxDigits)
	for _, d := range x.digits[:x.n] {
		dec = append(dec, '0'+d/10, '0'+d%10)
	}
	point = 2 * (int(x.exp) + 1)
	if len(dec) > 0 && dec[0] == '0' {
		dec, point = dec[1:], point-1
	}
	for len(dec) > 0 && dec[len(dec)-1] == '0' {
		dec = dec[:len(dec)-1]
	}
	return dec, point
}

// Decimal returns the significant digits of |x| and the power of ten of the point before the first: 0.DDD *
// 10^point. Formats build on it.
func (x *Num) Decimal() (digits string, point int) {
	d, p := x.decimal()
	return string(d), p
}

// String is the exact plain decimal text: no exponent, no zero before the point is left out ("0.5").
func (x Num) String() string {
	if x.n == 0 {
		return "0"
	}
	dec, point := x.decimal()
	var b strings.Builder
	if x.neg {
		b.WriteByte('-')
	}
	switch {
	case point <= 0:
		b.WriteString("0.")
		b.WriteString(strings.Repeat("0", -point))
		b.Write(dec)
	case point >= len(dec):
		b.Write(dec)
		b.WriteString(strings.Repeat("0", point-len(dec)))
	default:
		b.Write(dec[:point])
		b.WriteByte('.')
		b.Write(dec[point:])
	}
	return b.String()
}

// Int64 returns x when it is an integer that fits.
func (x *Num) Int64() (int64, bool) {
	if x.n == 0 {
		return 0, true
	}
	if int(x.n) > int(x.exp)+1 || x.exp > 9 {
		return 0, false
	}
	var u uint64
	for i := 0; i <= int(x.exp); i++ {
		d := uint64(x.digits[i])
		if u > (math.MaxUint64-d)/100 {
			return 0, false
		}
		u = u*100 + d
	}
	if x.neg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u <= math.MaxInt64
}

// Float64 is the nearest float.
func (x *Num) Float64() float64 {
	f, _ := strconv.ParseFloat(x.String(), 64) // out of range cannot happen: 1e126 fits a float64
	return f
}

// Sign is -1, 0 or 1.
func (x *Num) Sign() int {
	switch {
	case x.n == 0:
		return 0
	case x.neg:
		return -1
	}
	return 1
}
