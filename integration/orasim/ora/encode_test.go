package ora

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"math/rand"
	"strings"
	"testing"
	"time"
)

func unhex(t *testing.T, s string) Value {
	t.Helper()
	v, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func num(t *testing.T, s string) Num {
	t.Helper()
	n, err := ParseNum(s)
	if err != nil {
		t.Fatalf("ParseNum(%q): %v", s, err)
	}
	return n
}

func TestNumberBytes(t *testing.T) {
	for _, c := range []struct{ text, hex string }{
		{"0", "80"}, {"1", "C1 02"}, {"100", "C2 02"}, {"-42", "3E 3B 66"}, {"-3.14", "3E 62 57 66"},
		{"0.01", "C0 02"}, {"10", "C1 0B"}, {"-1", "3E 64 66"}, {"123456.789", "C3 0D 23 39 4F 5B"},
		{"0.1", "C0 0B"}, {"99999999999999999999999999999999999999", "D3" + strings.Repeat("64", 19)},
		{"-9999999999999999999999999999999999999999", "2B" + strings.Repeat("02", 20)},
	} {
		want := unhex(t, c.hex)
		if got := num(t, c.text).Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: got % X, want % X", c.text, got, want)
		}
		back, err := DecodeNumber(want)
		if err != nil || back.String() != c.text {
			t.Errorf("decode % X: got %v, %v, want %s", want, back, err, c.text)
		}
	}
}

func TestNumberRejectsDamage(t *testing.T) {
	for _, h := range []string{"", "C1", "C1 00", "C1 66", "3E 01 66", "00", "FF 65 00" + strings.Repeat("01", 30)} {
		if n, err := DecodeNumber(unhex(t, h)); err == nil {
			t.Errorf("decode %q: got %v, want an error", h, n)
		}
	}
}

func randomNum(r *rand.Rand) string {
	digits := make([]byte, 1+r.Intn(38))
	for i := range digits {
		digits[i] = byte('0' + r.Intn(10))
	}
	s := string(digits)
	if p := r.Intn(len(digits) + 1); p < len(digits) {
		s = s[:p] + "." + s[p:]
	}
	if r.Intn(2) == 0 {
		s = "-" + s
	}
	return s
}

func rat(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("rat %q", s)
	}
	return r
}

// closeEnough says whether got is want rounded to 20 base-100 digits: off by at most half a unit of the last.
func closeEnough(got Num, want *big.Rat) bool {
	g, _ := new(big.Rat).SetString(got.String())
	diff := new(big.Rat).Sub(g, want)
	if diff.Sign() == 0 {
		return true
	}
	if got.Sign() == 0 {
		return false
	}
	exp := int(got.exp) - maxDigits + 1
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(100), big.NewInt(int64(max(exp, -exp))), nil))
	if exp < 0 {
		unit.Inv(unit)
	}
	return diff.Abs(diff).Cmp(unit.Mul(unit, big.NewRat(1, 2))) <= 0
}

func TestNumberAgainstBig(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 5000 {
		a, b := randomNum(r), randomNum(r)
		x, y, rx, ry := num(t, a), num(t, b), rat(t, a), rat(t, b)
		if got, want := x.Cmp(&y), rx.Cmp(ry); got != want {
			t.Fatalf("%s cmp %s: got %d, want %d", a, b, got, want)
		}
		if got, want := bytes.Compare(x.Encode(), y.Encode()), rx.Cmp(ry); got != want {
			t.Fatalf("bytes of %s against %s: got %d, want %d", a, b, got, want)
		}
		back, err := DecodeNumber(x.Encode())
		if err != nil || back != x || rat(t, back.String()).Cmp(rx) != 0 {
			t.Fatalf("%s: round trip gave %s, %v", a, back, err)
		}
		check := func(op string, got Num, err error, want *big.Rat) {
			if err != nil || !closeEnough(got, want) {
				t.Fatalf("%s %s %s: got %s, %v, want %s", a, op, b, got, err, want.FloatString(60))
			}
		}
		sum, err := x.Add(y)
		check("+", sum, err, new(big.Rat).Add(rx, ry))
		diff, err := x.Sub(y)
		check("-", diff, err, new(big.Rat).Sub(rx, ry))
		prod, err := x.Mul(y)
		check("*", prod, err, new(big.Rat).Mul(rx, ry))
		if ry.Sign() != 0 {
			quo, err := x.Div(y)
			check("/", quo, err, new(big.Rat).Quo(rx, ry))
		}
	}
}

func TestNumberArithmetic(t *testing.T) {
	div := func(a, b string) string {
		q, err := num(t, a).Div(num(t, b))
		if err != nil {
			t.Fatal(err)
		}
		return q.String()
	}
	if got, want := div("1", "3"), "0."+strings.Repeat("3", 40); got != want {
		t.Errorf("1/3: got %s, want %s", got, want)
	}
	if got, want := div("2", "3"), "0."+strings.Repeat("6", 39)+"7"; got != want {
		t.Errorf("2/3: got %s, want %s", got, want)
	}
	if got, want := div("10", "3"), "3."+strings.Repeat("3", 38); got != want {
		t.Errorf("10/3: got %s, want %s", got, want)
	}
	for _, c := range []struct {
		in       string
		decimals int
		round    string
		trunc    string
	}{
		{"2.5", 0, "3", "2"}, {"-2.5", 0, "-3", "-2"}, {"2.45", 1, "2.5", "2.4"}, {"155", -1, "160", "150"},
		{"0.5", 0, "1", "0"}, {"0.4", 0, "0", "0"}, {"55", -2, "100", "0"}, {"99.99", 1, "100", "99.9"},
		{"0.05", 1, "0.1", "0"}, {"12345", 3, "12345", "12345"}, {"45", -2, "0", "0"},
	} {
		x := num(t, c.in)
		r, err := x.Round(c.decimals)
		if err != nil || r.String() != c.round {
			t.Errorf("round(%s, %d): got %s, %v, want %s", c.in, c.decimals, r, err, c.round)
		}
		if got := x.Trunc(c.decimals).String(); got != c.trunc {
			t.Errorf("trunc(%s, %d): got %s, want %s", c.in, c.decimals, got, c.trunc)
		}
	}
	for _, c := range [][3]string{{"11", "4", "3"}, {"-11", "4", "-3"}, {"7.5", "0.4", "0.3"}, {"5", "0", "5"}, {"1e30", "7", "1"}} {
		if got := num(t, c[0]).Mod(num(t, c[1])).String(); got != c[2] {
			t.Errorf("mod(%s, %s): got %s, want %s", c[0], c[1], got, c[2])
		}
	}
	if _, err := num(t, "9e125").Mul(num(t, "10")); err != ErrOverflow {
		t.Errorf("9e125*10: got %v, want overflow", err)
	}
	if got, err := num(t, "1e-130").Div(num(t, "1000")); err != nil || got.Sign() != 0 {
		t.Errorf("1e-130/1000: got %v, %v, want 0", got, err)
	}
	if _, err := num(t, "1").Div(Num{}); err != ErrDivideByZero {
		t.Errorf("1/0: got %v", err)
	}
}

func TestInt64(t *testing.T) {
	for _, i := range []int64{0, 1, -1, 99, 100, 120000, 1<<63 - 1, -1 << 63} {
		x := NumFromInt(i)
		if got, ok := x.Int64(); !ok || got != i {
			t.Errorf("%d: got %d, %v", i, got, ok)
		}
	}
	for _, s := range []string{"0.5", "9223372036854775808", "-9223372036854775809", "1e30"} {
		x := num(t, s)
		if got, ok := x.Int64(); ok {
			t.Errorf("%s: got %d, want none", s, got)
		}
	}
}

func TestTimes(t *testing.T) {
	for _, c := range []struct {
		t   Time
		hex string
	}{
		{Time{2026, 9, 28, 0, 0, 0, 0}, "78 7E 09 1C 01 01 01"},
		{Time{9999, 12, 31, 23, 59, 59, 0}, "C7 C7 0C 1F 18 3C 3C"},
		{Time{-4712, 1, 1, 0, 0, 0, 0}, "35 58 01 01 01 01 01"},
		{Time{2026, 1, 2, 3, 4, 5, 123456789}, "78 7E 01 02 04 05 06 07 5B CD 15"},
	} {
		if got, want := c.t.EncodeTimestamp(), unhex(t, c.hex); !bytes.Equal(got, want) {
			t.Errorf("%v: got % X, want % X", c.t, got, want)
		}
		if back, err := DecodeTime(unhex(t, c.hex)); err != nil || back != c.t {
			t.Errorf("decode %s: got %v, %v", c.hex, back, err)
		}
	}
	tz := Time{2026, 9, 28, 1, 30, 0, 5}
	wall, offset, err := DecodeTZ(tz.EncodeTZ(9 * 60))
	if err != nil || wall != tz || offset != 540 {
		t.Errorf("time zone: got %v %d %v", wall, offset, err)
	}
}

func TestJulianDays(t *testing.T) {
	for _, c := range []struct {
		t  Time
		jd int
	}{
		{Time{Year: 2000, Month: 1, Day: 1}, 2451545}, {Time{Year: 1582, Month: 10, Day: 15}, 2299161},
		{Time{Year: 1582, Month: 10, Day: 4}, 2299160}, {Time{Year: 1970, Month: 1, Day: 1}, 2440588},
		{Time{Year: -1, Month: 12, Day: 31}, 1721423}, {Time{Year: 1, Month: 1, Day: 1}, 1721424},
	} {
		if got := c.t.JulianDay(); got != c.jd {
			t.Errorf("%v: got %d, want %d", c.t, got, c.jd)
		}
	}
	for jd := 1; jd < 5373484; jd += 97 {
		if got := FromJulianDay(jd).JulianDay(); got != jd {
			t.Fatalf("day %d: got %d", jd, got)
		}
	}
	g := time.Date(2024, 2, 29, 23, 59, 59, 7, time.UTC)
	if got := FromGo(g).Go(); !got.Equal(g) {
		t.Errorf("go time: got %v, want %v", got, g)
	}
}

func TestFraction(t *testing.T) {
	for _, c := range []struct {
		in     Time
		digits int
		want   Time
	}{
		{Time{2026, 12, 31, 23, 59, 59, 999999500}, 6, Time{2027, 1, 1, 0, 0, 0, 0}},
		{Time{2026, 12, 31, 23, 59, 59, 123456499}, 6, Time{2026, 12, 31, 23, 59, 59, 123456000}},
		{Time{2026, 12, 31, 23, 59, 59, 500000000}, 0, Time{2027, 1, 1, 0, 0, 0, 0}},
		{Time{2026, 12, 31, 23, 59, 59, 123456789}, 9, Time{2026, 12, 31, 23, 59, 59, 123456789}},
	} {
		if got := c.in.RoundFraction(c.digits); got != c.want {
			t.Errorf("%v to %d: got %v, want %v", c.in, c.digits, got, c.want)
		}
	}
}

func TestScalars(t *testing.T) {
	if got, want := EncodeFloat(1.5), unhex(t, "BF C0 00 00"); !bytes.Equal(got, want) {
		t.Errorf("1.5f: got % X", got)
	}
	if got, want := EncodeDouble(-1.5), unhex(t, "40 07 FF FF FF FF FF FF"); !bytes.Equal(got, want) {
		t.Errorf("-1.5: got % X", got)
	}
	for _, f := range []float64{0, 1, -1, 1e300, -1e-300} {
		if got, err := DecodeDouble(EncodeDouble(f)); err != nil || got != f {
			t.Errorf("%g: got %g, %v", f, got, err)
		}
	}
	if got := DecodeNational(EncodeNational("점검€𝄞")); got != "점검€𝄞" {
		t.Errorf("national: got %q", got)
	}
	for _, m := range []int{0, 1, -1, 14, -14, 12 * 9999} {
		if got, err := DecodeMonths(EncodeMonths(m)); err != nil || got != m {
			t.Errorf("%d months: got %d, %v", m, got, err)
		}
	}
	for _, s := range []Span{{}, {1, 5}, {-1, -5}, {-86400*3 - 3661, -1}, {86399, 999999999}} {
		if got, err := DecodeSpan(s.Encode()); err != nil || got != s {
			t.Errorf("%v: got %v, %v", s, got, err)
		}
	}
}

func TestRowID(t *testing.T) {
	r := RowID{Object: 73196, File: 4, Block: 1234567, Slot: 42}
	if back, err := DecodeRowID(r.Encode()); err != nil || back != r {
		t.Errorf("bytes: got %v, %v", back, err)
	}
	if back, err := ParseRowID(r.String()); err != nil || back != r {
		t.Errorf("text %s: got %v, %v", r, back, err)
	}
	for _, s := range []string{"", "AAAAAAAAAAAAAAAAA", "AAAAAAAAA!AAAAAAAA", "//////AAAAAAAAAAAA"} {
		if got, err := ParseRowID(s); err == nil {
			t.Errorf("parse %q: got %v, want an error", s, got)
		}
	}
}
