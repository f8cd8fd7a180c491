package extract

import (
	"math/big"
	"math/bits"
)

// Int128 is a signed 128-bit integer in two's complement: enough for every decimal of 38 digits.
type Int128 struct {
	Hi int64
	Lo uint64
}

// NewInt128 widens n.
func NewInt128(n int64) Int128 { return Int128{Hi: n >> 63, Lo: uint64(n)} }

// Sign is -1, 0 or 1.
func (a Int128) Sign() int {
	switch {
	case a.Hi < 0:
		return -1
	case a.Hi == 0 && a.Lo == 0:
		return 0
	default:
		return 1
	}
}

// Cmp is -1, 0 or 1 as a is less than, equal to or greater than b.
func (a Int128) Cmp(b Int128) int {
	switch {
	case a == b:
		return 0
	case a.Hi < b.Hi, a.Hi == b.Hi && a.Lo < b.Lo:
		return -1
	default:
		return 1
	}
}

// Add returns a+b; ok is false when the sum does not fit, and the sum is then worthless.
func (a Int128) Add(b Int128) (sum Int128, ok bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(uint64(a.Hi), uint64(b.Hi), carry)
	sum = Int128{Hi: int64(hi), Lo: lo}
	overflow := (a.Hi^sum.Hi)&(b.Hi^sum.Hi) < 0
	return sum, !overflow
}

// Neg returns -a. The least value, which no decimal of 38 digits reaches, is its own negative.
func (a Int128) Neg() Int128 {
	lo, borrow := bits.Sub64(0, a.Lo, 0)
	hi, _ := bits.Sub64(0, uint64(a.Hi), borrow)
	return Int128{Hi: int64(hi), Lo: lo}
}

// Int64 returns a when it fits.
func (a Int128) Int64() (n int64, ok bool) {
	n = int64(a.Lo)
	return n, a.Hi == n>>63
}

// Big returns a as a new big integer.
func (a Int128) Big() *big.Int {
	n := big.NewInt(a.Hi)
	n.Lsh(n, 64)
	return n.Add(n, new(big.Int).SetUint64(a.Lo))
}

// maxFixed is the greatest number of bytes that AppendFixed and FromFixed take.
const maxFixed = 16

// AppendFixed appends a as n bytes of big-endian two's complement, 1 <= n <= 16, the form of a decimal in a
// Parquet FIXED_LEN_BYTE_ARRAY. ok is false, and nothing is appended, when n bytes are too few.
func (a Int128) AppendFixed(dst []byte, n int) (out []byte, ok bool) {
	if n < 1 || n > maxFixed {
		return dst, false
	}
	if n < maxFixed && a.shiftRight(uint(8*n-1)) != (Int128{Hi: a.Hi >> 63, Lo: uint64(a.Hi >> 63)}) {
		return dst, false
	}
	for i := n - 1; i >= 0; i-- {
		dst = append(dst, byte(a.shiftRight(uint(8*i)).Lo))
	}
	return dst, true
}

// FromFixed reads 1 to 16 bytes of big-endian two's complement. ok is false for any other length.
func FromFixed(p []byte) (a Int128, ok bool) {
	if len(p) < 1 || len(p) > maxFixed {
		return Int128{}, false
	}
	a = NewInt128(int64(int8(p[0])))
	for _, c := range p[1:] {
		a = Int128{Hi: a.Hi<<8 | int64(a.Lo>>56), Lo: a.Lo<<8 | uint64(c)}
	}
	return a, true
}

// shiftRight is the arithmetic shift, for n < 128.
func (a Int128) shiftRight(n uint) Int128 {
	if n >= 64 {
		return NewInt128(a.Hi >> (n - 64))
	}
	// Shifts by 64 give 0 in Go, so n = 0 needs no case of its own.
	return Int128{Hi: a.Hi >> n, Lo: a.Lo>>n | uint64(a.Hi)<<(64-n)}
}

// uint128 is the magnitude of an Int128 while text is read or written.
type uint128 struct{ hi, lo uint64 }

func (a Int128) magnitude() uint128 {
	if a.Hi < 0 {
		a = a.Neg()
	}
	return uint128{uint64(a.Hi), a.Lo}
}

// mulAdd returns u*m+add. The caller knows that it fits.
func (u uint128) mulAdd(m, add uint64) uint128 {
	hi, lo := bits.Mul64(u.lo, m)
	lo, carry := bits.Add64(lo, add, 0)
	return uint128{u.hi*m + hi + carry, lo}
}

// divMod divides by d, which is greater than 0.
func (u uint128) divMod(d uint64) (quotient uint128, remainder uint64) {
	quotient.hi, remainder = u.hi/d, u.hi%d
	quotient.lo, remainder = bits.Div64(remainder, u.lo, d)
	return quotient, remainder
}
