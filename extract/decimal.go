package extract

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// MaxPrecision is the greatest precision of a decimal.
const MaxPrecision = 38

// AppendDecimal appends the canonical text of n * 10^-scale: digits with exactly scale digits after the point.
func AppendDecimal(dst []byte, n Int128, scale int) []byte {
	if n.Sign() < 0 {
		dst = append(dst, '-')
	}
	var digits [40]byte
	i := len(digits)
	for u := n.magnitude(); u != (uint128{}) || len(digits)-i <= scale; {
		var d uint64
		u, d = u.divMod(10)
		i--
		digits[i] = byte('0' + d)
	}
	whole := len(digits) - scale
	dst = append(dst, digits[i:whole]...)
	if scale > 0 {
		dst = append(dst, '.')
		dst = append(dst, digits[whole:]...)
	}
	return dst
}

// FormatDecimal is AppendDecimal as a string.
func FormatDecimal(n Int128, scale int) string { return string(AppendDecimal(nil, n, scale)) }

// ParseDecimal reads the text of a number as the decimal t: optional sign, digits, point, fraction, exponent. The
// value must fit exactly: a digit beyond the scale or the precision is ErrValue, zeros there are not.
func ParseDecimal(s string, t Type) (Int128, error) {
	d, err := scanDecimal(s)
	if err != nil {
		return Int128{}, err
	}
	if d.digits == 0 {
		return Int128{}, nil
	}
	shift := d.exp + t.Scale
	if shift < 0 {
		return Int128{}, fmt.Errorf("%w: %s has %d digits after the point, %s keeps %d", ErrValue, s, -d.exp, t, t.Scale)
	}
	if d.digits+shift > t.Precision {
		return Int128{}, fmt.Errorf("%w: %s needs %d digits at scale %d, %s has %d", ErrValue, s, d.digits+shift, t.Scale, t, t.Precision)
	}
	for ; shift > 0; shift-- {
		d.mantissa = d.mantissa.mulAdd(10, 0)
	}
	n := Int128{Hi: int64(d.mantissa.hi), Lo: d.mantissa.lo}
	if d.negative {
		n = n.Neg()
	}
	return n, nil
}

// scanned is the number mantissa * 10^exp, whose last digit is not 0.
type scanned struct {
	negative bool
	mantissa uint128
	digits   int // of the mantissa; 0 for the number 0
	exp      int
	zeros    int // read last, and only significant if another digit follows
}

func scanDecimal(s string) (scanned, error) {
	var d scanned
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		d.negative = s[i] == '-'
		i++
	}
	point, seen := false, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen = true
		if point {
			d.exp--
		}
		if !d.digit(uint64(c - '0')) {
			return d, fmt.Errorf("%w: %s has more than %d digits", ErrValue, clip(s), MaxPrecision)
		}
	}
	if !seen {
		return d, notNumber(s)
	}
	exp, err := exponent(s, i)
	d.exp += d.zeros + exp
	return d, err
}

// digit takes the next digit; false when they are more than any decimal has.
func (d *scanned) digit(n uint64) bool {
	if n == 0 {
		d.zeros++
		return true
	}
	if d.digits == 0 {
		d.zeros = 0 // leading
	}
	d.digits += d.zeros + 1
	if d.digits > MaxPrecision {
		return false
	}
	for ; d.zeros > 0; d.zeros-- {
		d.mantissa = d.mantissa.mulAdd(10, 0)
	}
	d.mantissa = d.mantissa.mulAdd(10, n)
	return true
}

// exponent reads what stands at i: nothing, or the letter E and an integer.
func exponent(s string, i int) (int, error) {
	if i == len(s) {
		return 0, nil
	}
	if s[i] != 'e' && s[i] != 'E' {
		return 0, notNumber(s)
	}
	e, err := strconv.ParseInt(s[i+1:], 10, 16)
	if err != nil {
		return 0, notNumber(s)
	}
	return int(e), nil
}

func notNumber(s string) error { return fmt.Errorf("%w: %q is not a number", ErrValue, clip(s)) }

// clip keeps what an error quotes short.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "..."
	}
	return s
}

// parseBig reads plain decimal text of any length as the integer n and the number of digits after the point.
func parseBig(s string) (n *big.Int, scale int, err error) {
	whole, fraction, point := strings.Cut(s, ".")
	digits := strings.TrimPrefix(whole, "-")
	if digits == "" || (point && fraction == "") || strings.Trim(digits+fraction, "0123456789") != "" {
		return nil, 0, notNumber(s)
	}
	n, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return nil, 0, notNumber(s)
	}
	return n, len(fraction), nil
}

// formatBig is FormatDecimal for integers of any length.
func formatBig(n *big.Int, scale int) string {
	digits := new(big.Int).Abs(n).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	if n.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

// rescale multiplies n by 10^digits.
func rescale(n *big.Int, digits int) *big.Int {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil)
	return power.Mul(power, n)
}

// CanonicalDecimal rewrites plain decimal text of any length with exactly scale digits after the point. Digits
// beyond the scale are ErrValue.
func CanonicalDecimal(s string, scale int) (string, error) {
	n, has, err := parseBig(s)
	if err != nil {
		return "", err
	}
	if has > scale {
		trimmed, rest := new(big.Int).QuoRem(n, rescale(big.NewInt(1), has-scale), new(big.Int))
		if rest.Sign() != 0 {
			return "", fmt.Errorf("%w: %s has more than %d digits after the point", ErrValue, clip(s), scale)
		}
		return formatBig(trimmed, scale), nil
	}
	return formatBig(rescale(n, scale-has), scale), nil
}

// AddDecimal adds two plain decimal texts of any length; the sum has the greater of their scales.
func AddDecimal(a, b string) (string, error) {
	x, xs, err := parseBig(a)
	if err != nil {
		return "", err
	}
	y, ys, err := parseBig(b)
	if err != nil {
		return "", err
	}
	scale := max(xs, ys)
	return formatBig(new(big.Int).Add(rescale(x, scale-xs), rescale(y, scale-ys)), scale), nil
}

// CompareDecimal compares two plain decimal texts of any length and scale by value.
func CompareDecimal(a, b string) (int, error) {
	x, xs, err := parseBig(a)
	if err != nil {
		return 0, err
	}
	y, ys, err := parseBig(b)
	if err != nil {
		return 0, err
	}
	scale := max(xs, ys)
	return rescale(x, scale-xs).Cmp(rescale(y, scale-ys)), nil
}
