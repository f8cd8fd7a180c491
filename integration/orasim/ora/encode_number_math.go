package ora

import (
	"errors"
	"math/big"
)

// ErrDivideByZero is a division by zero (ORA-01476).
var ErrDivideByZero = errors.New("divisor is equal to zero")

// Neg returns -x.
func (x Num) Neg() Num {
	if x.n > 0 {
		x.neg = !x.neg
	}
	return x
}

// Abs returns |x|.
func (x Num) Abs() Num {
	x.neg = false
	return x
}

// Cmp compares: -1, 0, 1.
func (x *Num) Cmp(y *Num) int {
	switch sx, sy := x.Sign(), y.Sign(); {
	case sx != sy && sx < sy:
		return -1
	case sx != sy:
		return 1
	case sx < 0:
		return y.cmpAbs(x)
	}
	return x.cmpAbs(y)
}

func (x *Num) cmpAbs(y *Num) int {
	switch {
	case x.n == 0 || y.n == 0:
		return int(min(x.n, 1)) - int(min(y.n, 1))
	case x.exp != y.exp:
		return sign(int(x.exp) - int(y.exp))
	}
	for i := range maxDigits {
		if d := int(x.digit(i)) - int(y.digit(i)); d != 0 {
			return sign(d)
		}
	}
	return 0
}

func sign(i int) int {
	switch {
	case i < 0:
		return -1
	case i > 0:
		return 1
	}
	return 0
}

func (x *Num) digit(i int) uint8 {
	if i < 0 || i >= int(x.n) {
		return 0
	}
	return x.digits[i]
}

// guard is how many digits past the last that a NUMBER keeps are looked at when two are added: the rounding
// digit, and one for the carry.
const guard = 2

// Add returns x + y, rounded.
func (x Num) Add(y Num) (Num, error) {
	if x.n == 0 {
		return y, nil
	}
	if y.n == 0 {
		return x, nil
	}
	if x.cmpAbs(&y) < 0 {
		x, y = y, x
	}
	// |x| >= |y|, so the sign of the result is x's. buf[0] takes the carry.
	var space [maxDigits + guard + 1]int
	shift := int(x.exp) - int(y.exp)
	buf := space[:min(len(space), 1+max(int(x.n), shift+int(y.n)))]
	for i := 1; i < len(buf); i++ {
		d := int(y.digit(i - 1 - shift))
		if x.neg != y.neg {
			d = -d
		}
		buf[i] = int(x.digit(i-1)) + d
	}
	for i := len(buf) - 1; i > 0; i-- {
		switch {
		case buf[i] > 99:
			buf[i] -= 100
			buf[i-1]++
		case buf[i] < 0:
			buf[i] += 100
			buf[i-1]--
		}
	}
	return normalise(x.neg, buf, int(x.exp)+1)
}

// Sub returns x - y, rounded.
func (x Num) Sub(y Num) (Num, error) { return x.Add(y.Neg()) }

// Mul returns x * y, rounded.
func (x Num) Mul(y Num) (Num, error) {
	if x.n == 0 || y.n == 0 {
		return Num{}, nil
	}
	var space [2 * maxDigits]int
	buf := space[:int(x.n)+int(y.n)]
	for i := range int(x.n) {
		for j := range int(y.n) {
			buf[i+j+1] += int(x.digits[i]) * int(y.digits[j])
		}
	}
	for i := len(buf) - 1; i > 0; i-- {
		buf[i-1] += buf[i] / 100
		buf[i] %= 100
	}
	return normalise(x.neg != y.neg, buf, int(x.exp)+int(y.exp)+1)
}

// Div returns x / y, rounded.
func (x Num) Div(y Num) (Num, error) {
	if y.n == 0 {
		return Num{}, ErrDivideByZero
	}
	if x.n == 0 {
		return Num{}, nil
	}
	xi, yi := x.integer(), y.integer()
	// Scale so that the quotient has at least two digits more than are kept.
	shift := maxDigits + guard + int(y.n)
	xi.Mul(xi, new(big.Int).Exp(big.NewInt(100), big.NewInt(int64(shift)), nil))
	xi.Quo(xi, yi)
	dec := []byte(xi.String())
	weight := (int(x.exp) - int(x.n) + 1) - (int(y.exp) - int(y.n) + 1) - shift
	return numFromDecimal(x.neg != y.neg, dec, len(dec)+2*weight)
}

// integer is the digits of |x| as one integer; its unit weighs 100^(exp-n+1).
func (x *Num) integer() *big.Int {
	dec := make([]byte, 0, 2*maxDigits+1)
	for _, d := range x.digits[:x.n] {
		dec = append(dec, '0'+d/10, '0'+d%10)
	}
	i, _ := new(big.Int).SetString(string(dec), 10)
	return i
}

// Mod returns x - y*trunc(x/y), the sign being x's; x when y is 0, as Oracle's MOD does.
func (x Num) Mod(y Num) Num {
	if y.n == 0 || x.cmpAbs(&y) < 0 {
		return x
	}
	if a, ok := x.Int64(); ok {
		if b, ok := y.Int64(); ok {
			return NumFromInt(a % b)
		}
	}
	xi, yi := x.integer(), y.integer()
	xw, yw := int(x.exp)-int(x.n)+1, int(y.exp)-int(y.n)+1
	w := min(xw, yw)
	hundred := big.NewInt(100)
	xi.Mul(xi, new(big.Int).Exp(hundred, big.NewInt(int64(xw-w)), nil))
	yi.Mul(yi, new(big.Int).Exp(hundred, big.NewInt(int64(yw-w)), nil))
	xi.Rem(xi, yi)
	dec := []byte(xi.String())
	r, _ := numFromDecimal(x.neg, dec, len(dec)+2*w) // smaller than y: cannot overflow
	return r
}

// Round returns x rounded half away from zero to the given number of decimals (negative: tens, hundreds).
func (x Num) Round(decimals int) (Num, error) { return x.cut(decimals, true) }

// Trunc returns x cut towards zero to the given number of decimals.
func (x Num) Trunc(decimals int) Num {
	r, _ := x.cut(decimals, false) // cutting cannot overflow
	return r
}

func (x Num) cut(decimals int, round bool) (Num, error) {
	if int(x.n) <= int(x.exp)+1 && decimals >= 0 {
		return x, nil // an integer
	}
	dec, point := x.decimal()
	keep := point + decimals
	switch {
	case keep >= len(dec):
		return x, nil
	case keep < 0 || keep == 0 && (!round || dec[0] < '5'):
		return Num{}, nil
	}
	up := round && dec[keep] >= '5'
	dec = dec[:keep]
	if !up {
		return numFromDecimal(x.neg, dec, point)
	}
	for i := keep - 1; i >= 0; i-- {
		if dec[i]++; dec[i] <= '9' {
			return numFromDecimal(x.neg, dec, point)
		}
		dec[i] = '0'
	}
	return numFromDecimal(x.neg, append([]byte{'1'}, dec...), point+1)
}

// Floor is the largest integer not above x.
func (x Num) Floor() (Num, error) {
	t := x.Trunc(0)
	if x.neg && t != x {
		return t.Sub(NumFromInt(1))
	}
	return t, nil
}

// Ceil is the smallest integer not below x.
func (x Num) Ceil() (Num, error) {
	t := x.Trunc(0)
	if !x.neg && t != x {
		return t.Add(NumFromInt(1))
	}
	return t, nil
}

// Significant returns x rounded to the given number of significant decimal digits.
func (x Num) Significant(digits int) (Num, error) {
	_, point := x.decimal()
	return x.Round(digits - point)
}

// WholeDigits is the number of decimal digits before the point (0 for |x| < 1).
func (x *Num) WholeDigits() int {
	_, point := x.decimal()
	return max(point, 0)
}
