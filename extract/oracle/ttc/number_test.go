package ttc

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/sijms/go-ora/v2/converters"

	"github.com/loadctl/loadctl/extract"
)

// encodeNumber writes digits of base 100, the first with this exponent, as Oracle does.
func encodeNumber(digits []byte, exponent int, negative bool) []byte {
	if !negative {
		out := []byte{byte(numberPositive + exponent)}
		for _, d := range digits {
			out = append(out, d+1)
		}
		return out
	}
	out := []byte{byte(numberNegative - exponent)}
	for _, d := range digits {
		out = append(out, 101-d)
	}
	if len(digits) < mostPairs {
		out = append(out, numberEnd)
	}
	return out
}

// scaledBig is the number times 10^scale, exactly, if that is an integer.
func scaledBig(digits []byte, exponent, scale int, negative bool) (n *big.Int, whole bool) {
	n = new(big.Int)
	for _, d := range digits {
		n.Mul(n, big.NewInt(100)).Add(n, big.NewInt(int64(d)))
	}
	if negative {
		n.Neg(n)
	}
	shift := 2*(exponent-len(digits)+1) + scale
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil)
	if shift >= 0 {
		return n.Mul(n, power), true
	}
	rest := new(big.Int)
	n.QuoRem(n, power, rest)
	return n, rest.Sign() == 0
}

func bigOf(n extract.Int128) *big.Int {
	out := new(big.Int).Lsh(big.NewInt(n.Hi), 64)
	return out.Add(out, new(big.Int).SetUint64(n.Lo))
}

func TestNumberAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 2))
	fits := 0
	for range 150_000 {
		digits := make([]byte, 1+r.IntN(mostPairs))
		for i := range digits {
			digits[i] = byte(r.IntN(100))
			if r.IntN(4) == 0 {
				digits[i] = []byte{0, 10, 90, 99}[r.IntN(4)]
			}
		}
		digits[0], digits[len(digits)-1] = max(digits[0], 1), max(digits[len(digits)-1], 1)
		if len(digits) == 1 {
			digits[0] = max(digits[0], 1)
		}
		precision := 1 + r.IntN(extract.MaxPrecision)
		scale := r.IntN(precision + 1)
		// Mostly near the exponent at which the last digit is just within the scale.
		exponent := len(digits) - 1 - scale/2 + r.IntN(4) - 2
		negative := r.IntN(2) == 0
		if exponent < -65 || exponent > 62 {
			continue
		}
		want, ok := scaledBig(digits, exponent, scale, negative)
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
		ok = ok && want.CmpAbs(limit) < 0
		x := encodeNumber(digits, exponent, negative)
		got, why := wide(x, scale, precision)
		if (why == fine) != ok || ok && bigOf(got).Cmp(want) != 0 {
			t.Fatalf("wide(% x) as decimal(%d,%d) = %v, fault %d; want %v, %v", x, precision, scale, bigOf(got), why, want, ok)
		}
		if ok {
			fits++
		}
		if precision > extract.MaxNarrow {
			continue
		}
		n, why := narrow(x, scale, precision)
		if (why == fine) != ok || ok && big.NewInt(n).Cmp(want) != 0 {
			t.Fatalf("narrow(% x) as decimal(%d,%d) = %d, fault %d; want %v, %v", x, precision, scale, n, why, want, ok)
		}
	}
	if fits < 20_000 {
		t.Errorf("only %d numbers fitted: the test shows little", fits)
	}
}

// TestNumberTextAgainstTheDriver: both readers write a number as the same text, whatever its size.
func TestNumberTextAgainstTheDriver(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 3))
	for range 20_000 {
		digits := make([]byte, 1+r.IntN(mostPairs))
		for i := range digits {
			digits[i] = byte(1 + r.IntN(99))
		}
		x := encodeNumber(digits, r.IntN(127)-64, r.IntN(2) == 0)
		got, why := appendNumber(nil, x)
		want, err := converters.NumberToString(x)
		if err != nil {
			t.Fatal(err)
		}
		if why != fine || string(got) != want {
			t.Fatalf("% x is %q, fault %d; go-ora says %q", x, got, why, want)
		}
	}
}

func TestNumberEdges(t *testing.T) {
	nines := make([]byte, 19)
	for i := range nines {
		nines[i] = 99
	}
	for _, c := range []struct {
		name             string
		x                []byte
		scale, precision int
		want             string
		why              fault
	}{
		{"zero", []byte{0x80}, 2, 9, "0", fine},
		{"1E-130, whose first byte is that of zero", []byte{0x80, 2}, 2, 9, "", beyondScale},
		{"one", []byte{0xC1, 2}, 0, 1, "1", fine},
		{"-42", []byte{0x3E, 0x3B, 0x66}, 0, 2, "-42", fine},
		{"-3.14", []byte{0x3E, 0x62, 0x57, 0x66}, 2, 3, "-314", fine},
		{"0.01 at scale 1", []byte{0xC0, 2}, 1, 9, "", beyondScale},
		{"0.1 at scale 1", []byte{0xC0, 11}, 1, 9, "1", fine},
		{"10^38 - 1", encodeNumber(nines, 18, false), 0, 38, "99999999999999999999999999999999999999", fine},
		{"-(10^38 - 1) at scale 38", encodeNumber(nines, -1, true), 38, 38, "-99999999999999999999999999999999999999", fine},
		{"10^38", []byte{byte(numberPositive + 19), 2}, 0, 38, "", beyondPrecision},
		{"38 digits at an odd scale", encodeNumber(append(append([]byte{9}, nines[:18]...), 90), 0, false), 37, 38, "99999999999999999999999999999999999999", fine},
		{"39 digits at an odd scale", encodeNumber(append(append([]byte{9}, nines[:18]...), 91), 0, false), 37, 38, "", beyondScale},
		{"40 digits", encodeNumber(append(nines[:19:19], 99), 19, false), 0, 38, "", beyondPrecision},
		{"infinity", []byte{0xFF, 101}, 0, 38, "", infinite},
		{"-infinity", []byte{0}, 0, 38, "", infinite},
		{"no digits", []byte{0xC1}, 0, 38, "", badNumber},
		{"a digit of 100", []byte{0xC1, 101}, 0, 38, "", badNumber},
		{"a digit of -1", []byte{0xC1, 0}, 0, 38, "", badNumber},
		{"a negative digit of 100", []byte{0x3E, 1, 102}, 0, 38, "", badNumber},
		{"a middle digit that is none", []byte{0xC3, 2, 0xFF, 2}, 0, 38, "", badNumber},
		{"21 digits", append([]byte{0xC1}, make([]byte, 21)...), 0, 38, "", badNumber},
		{"nothing", nil, 0, 38, "", badNumber},
	} {
		got, why := wide(c.x, c.scale, c.precision)
		if why != c.why || why == fine && bigOf(got).String() != c.want {
			t.Errorf("%s: % x is %v, fault %d; want %s, fault %d", c.name, c.x, bigOf(got), why, c.want, c.why)
		}
		if _, why := narrow(c.x, min(c.scale, 18), min(c.precision, 18)); (why == fine) != (c.why == fine) && c.precision <= 18 {
			t.Errorf("%s: narrow says %d, wide %d", c.name, why, c.why)
		}
	}
}

// Ten digits of base 100 would wrap 64 bits around.
func TestNarrowDoesNotWrap(t *testing.T) {
	digits := []byte{99, 99, 99, 99, 99, 99, 99, 99, 99, 99}
	for scale := range 19 {
		for exponent := -20; exponent < 20; exponent++ {
			if n, why := narrow(encodeNumber(digits, exponent, false), scale, 18); why == fine {
				t.Errorf("20 digits with exponent %d at scale %d are %d", exponent, scale, n)
			}
		}
	}
}
