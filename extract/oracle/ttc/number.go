package ttc

import (
	"math/bits"

	"github.com/loadctl/loadctl/extract"
)

// A NUMBER is a byte for sign and exponent, then up to 20 digits of base 100, the most significant first. The exponent
// is that of the first digit, to the base 100. Of negative numbers everything is inverted, and a byte ends the digits
// when they are fewer than 20.
const (
	numberZero     = 0x80
	numberPositive = 0xC1 // exponent 0
	numberNegative = 0x3E // exponent 0
	numberEnd      = 102
	mostPairs      = 20
	numberTextLen  = 172 // sign, point, 130 zeros and 40 digits
)

// parts is a NUMBER taken apart. first and last digits are not 0, as Oracle writes them.
type parts struct {
	digits   []byte // as they lie there: see digit
	negative bool
	exponent int // of the last digit, to the base 100
}

// digit returns a digit of base 100; more than 99 is none.
func (p *parts) digit(i int) uint64 {
	if p.negative {
		return uint64(101 - p.digits[i])
	}
	return uint64(p.digits[i] - 1)
}

// split takes a NUMBER apart; zero has no digits.
func split(x []byte) (p parts, why fault) {
	if len(x) == 0 {
		return p, badNumber
	}
	head := x[0]
	p.digits = x[1:]
	if head == numberZero && len(p.digits) == 0 {
		return p, fine
	}
	if head >= numberZero { // with digits behind it, the byte of zero is the least exponent: 80 02 is 1E-130
		p.exponent = int(head) - numberPositive
	} else {
		p.negative = true
		p.exponent = numberNegative - int(head)
		if n := len(p.digits); n > 0 && p.digits[n-1] == numberEnd {
			p.digits = p.digits[:n-1]
		}
	}
	if isInfinite(x) {
		return p, infinite
	}
	n := len(p.digits)
	if n == 0 || n > mostPairs || p.digit(0) == 0 || p.digit(n-1) == 0 {
		return p, badNumber
	}
	p.exponent -= n - 1
	return p, fine
}

// isInfinite knows what Oracle has for ~ and -~.
func isInfinite(x []byte) bool {
	return len(x) == 1 && x[0] == 0 || len(x) == 2 && x[0] == 0xFF && x[1] == 101
}

// fit says by how many decimal places the digits must be shifted to be an integer at the scale. A shift of -1 means that
// the last decimal digit lies beyond the scale: that it is 0 is for the caller to see. When the number fits, it has at
// most precision digits after the shift, so that nothing can overflow that holds so many.
func (p *parts) fit(scale, precision int) (shift int, why fault) {
	shift = 2*p.exponent + scale
	if shift < -1 {
		return 0, beyondScale
	}
	digits := 2*len(p.digits) + shift
	if p.digit(0) < 10 {
		digits--
	}
	if digits > precision {
		return 0, beyondPrecision
	}
	return shift, fine
}

// narrow decodes a number of at most MaxNarrow digits as an integer of the scale.
func narrow(x []byte, scale, precision int) (int64, fault) {
	p, why := split(x)
	if why != fine || len(p.digits) == 0 {
		return 0, why
	}
	shift, why := p.fit(scale, precision)
	if why != fine {
		return 0, p.orBad(why)
	}
	// At most 19 digits before the shift: below 2^64.
	n, ok := p.fold(0, len(p.digits))
	if !ok {
		return 0, badNumber
	}
	if shift < 0 {
		if n%10 != 0 {
			return 0, beyondScale
		}
		n /= 10
	} else {
		n *= pow10(shift)
	}
	if p.negative {
		return -int64(n), fine
	}
	return int64(n), fine
}

// orBad prefers to say that the digits are none.
func (p *parts) orBad(why fault) fault {
	for i := range p.digits {
		if p.digit(i) > 99 {
			return badNumber
		}
	}
	return why
}

// fold reads digits from..to as one integer. ok is false when one is no digit.
func (p *parts) fold(from, to int) (n uint64, ok bool) {
	if p.negative {
		for _, b := range p.digits[from:to] {
			d := 101 - b
			if d > 99 {
				return 0, false
			}
			n = n*100 + uint64(d)
		}
		return n, true
	}
	for _, b := range p.digits[from:to] {
		d := b - 1
		if d > 99 {
			return 0, false
		}
		n = n*100 + uint64(d)
	}
	return n, true
}

// wide decodes a number of at most MaxPrecision digits as an integer of the scale.
func wide(x []byte, scale, precision int) (extract.Int128, fault) {
	p, why := split(x)
	if why != fine || len(p.digits) == 0 {
		return extract.Int128{}, why
	}
	shift, why := p.fit(scale, precision)
	if why != fine {
		return extract.Int128{}, p.orBad(why)
	}
	n, why := p.magnitude(shift)
	if why != fine {
		return extract.Int128{}, why
	}
	out := extract.Int128{Hi: int64(n.hi), Lo: n.lo}
	if p.negative {
		out = out.Neg()
	}
	return out, fine
}

// magnitude is the shifted integer. Of a last digit that lies half beyond the scale only the upper half is taken in:
// with the lower one the number could have 39 digits, which 128 bits do not hold.
func (p *parts) magnitude(shift int) (n uint128, why fault) {
	const step = 9 // digits of base 100 that 64 bits hold
	whole := len(p.digits)
	if shift < 0 {
		whole--
	}
	for at := 0; at < whole; at += step {
		to := min(at+step, whole)
		part, ok := p.fold(at, to)
		if !ok {
			return n, badNumber
		}
		n = n.mulAdd(pow10(2*(to-at)), part)
	}
	if shift < 0 {
		last := p.digit(whole)
		if last > 99 {
			return n, badNumber
		}
		if last%10 != 0 {
			return n, beyondScale
		}
		return n.mulAdd(10, last/10), fine
	}
	for ; shift > 0; shift -= 18 {
		n = n.mulAdd(pow10(min(shift, 18)), 0)
	}
	return n, fine
}

type uint128 struct{ hi, lo uint64 }

// mulAdd returns n*m+add, which the caller knows to fit.
func (n uint128) mulAdd(m, add uint64) uint128 {
	hi, lo := bits.Mul64(n.lo, m)
	lo, carry := bits.Add64(lo, add, 0)
	return uint128{n.hi*m + hi + carry, lo}
}

// powers of ten, which nobody writes.
var powers = [...]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
}

// pow10 is 10^n for 0 <= n <= 18.
func pow10(n int) uint64 { return powers[n] }

// appendNumber appends a number as plain text, in full and without a needless digit.
func appendNumber(dst, x []byte) ([]byte, fault) {
	p, why := split(x)
	if why != fine {
		return dst, why
	}
	if len(p.digits) == 0 {
		return append(dst, '0'), fine
	}
	if why := p.orBad(fine); why != fine {
		return dst, why
	}
	if p.negative {
		dst = append(dst, '-')
	}
	if first := p.exponent + len(p.digits) - 1; first < 0 {
		dst = append(dst, "0."...)
		for ; first < -1; first++ {
			dst = append(dst, "00"...)
		}
	}
	return p.appendDigits(dst), fine
}

func (p *parts) appendDigits(dst []byte) []byte {
	point := p.exponent < 0 && p.exponent+len(p.digits) <= 0 // written already
	for i := range p.digits {
		d := p.digit(i)
		if left := len(p.digits) - 1 - i + p.exponent; left == -1 && !point {
			dst, point = append(dst, '.'), true
		}
		if i > 0 || point || d >= 10 {
			dst = append(dst, byte('0'+d/10))
		}
		dst = append(dst, byte('0'+d%10))
	}
	if p.exponent < 0 && dst[len(dst)-1] == '0' {
		return dst[:len(dst)-1]
	}
	for range p.exponent {
		dst = append(dst, "00"...)
	}
	return dst
}
