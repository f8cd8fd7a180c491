package extract

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyInt128 draws numbers of every length, so that small ones are as likely as large ones.
var anyInt128 = rapid.Custom(func(t *rapid.T) Int128 {
	n := Int128{Hi: rapid.Int64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
	return n.shiftRight(rapid.UintRange(0, 127).Draw(t, "shift"))
})

func TestInt128AgainstBig(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyInt128.Draw(t, "a"), anyInt128.Draw(t, "b")
		if got, want := a.Cmp(b), a.Big().Cmp(b.Big()); got != want {
			t.Fatalf("Cmp = %d, want %d", got, want)
		}
		if got, want := a.Sign(), a.Big().Sign(); got != want {
			t.Fatalf("Sign = %d, want %d", got, want)
		}
		want := new(big.Int).Add(a.Big(), b.Big())
		fits := want.Cmp(limit) < 0 && want.Cmp(new(big.Int).Neg(limit)) >= 0
		sum, ok := a.Add(b)
		if ok != fits || (ok && sum.Big().Cmp(want) != 0) {
			t.Fatalf("Add = %s, %t; want %s, %t", sum.Big(), ok, want, fits)
		}
		if n, ok := a.Int64(); ok != a.Big().IsInt64() || (ok && n != a.Big().Int64()) {
			t.Fatalf("Int64 = %d, %t for %s", n, ok, a.Big())
		}
	})
}

func TestFixedBytesAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, n := anyInt128.Draw(t, "a"), rapid.IntRange(1, 16).Draw(t, "n")
		half := new(big.Int).Lsh(big.NewInt(1), uint(8*n-1))
		fits := a.Big().Cmp(half) < 0 && a.Big().Cmp(new(big.Int).Neg(half)) >= 0
		p, ok := a.AppendFixed(nil, n)
		if ok != fits {
			t.Fatalf("%s in %d bytes: ok = %t, want %t", a.Big(), n, ok, fits)
		}
		if !ok {
			return
		}
		if back, ok := FromFixed(p); len(p) != n || !ok || back != a {
			t.Fatalf("%s in %d bytes: % x reads back as %s", a.Big(), n, p, back.Big())
		}
	})
	if p, _ := NewInt128(-2).AppendFixed(nil, 3); string(p) != "\xff\xff\xfe" {
		t.Fatalf("-2 in 3 bytes = % x, want ff ff fe", p)
	}
	if _, ok := NewInt128(1).AppendFixed(nil, 17); ok {
		t.Fatal("17 bytes were written")
	}
	if _, ok := FromFixed(nil); ok {
		t.Fatal("no bytes were read as a number")
	}
}

func TestParseDecimal(t *testing.T) {
	nines := strings.Repeat("9", 38)
	for _, c := range []struct {
		in   string
		t    Type
		want string
	}{
		{"0", Type{Decimal, 18, 2, 0, false}, "0.00"},
		{"-0", Type{Decimal, 18, 2, 0, false}, "0.00"},
		{"71853075", Type{Decimal, 18, 2, 0, false}, "71853075.00"},
		{"-.5", Type{Decimal, 18, 2, 0, false}, "-0.50"},
		{"1.500000", Type{Decimal, 3, 1, 0, false}, "1.5"},
		{"0001.5", Type{Decimal, 2, 1, 0, false}, "1.5"},
		{"0.00000", Type{Decimal, 1, 0, 0, false}, "0"},
		{"1E5", Type{Decimal, 6, 0, 0, false}, "100000"},
		{"1.5e-1", Type{Decimal, 6, 2, 0, false}, "0.15"},
		{"1200E-2", Type{Decimal, 6, 0, 0, false}, "12"},
		{nines, Type{Decimal, 38, 0, 0, false}, nines},
		{"-" + nines, Type{Decimal, 38, 0, 0, false}, "-" + nines},
		{"-0." + nines, Type{Decimal, 38, 38, 0, false}, "-0." + nines},
		{"1" + strings.Repeat("0", 37), Type{Decimal, 38, 0, 0, false}, "1" + strings.Repeat("0", 37)},
		{"100000000000000000000000000000000000000000E-10", Type{Decimal, 38, 2, 0, false}, "10000000000000000000000000000000.00"},
	} {
		n, err := ParseDecimal(c.in, c.t)
		if err != nil {
			t.Errorf("%s as %s: %v", c.in, c.t, err)
			continue
		}
		if got := FormatDecimal(n, c.t.Scale); got != c.want {
			t.Errorf("%s as %s = %s, want %s", c.in, c.t, got, c.want)
		}
	}
}

func TestParseDecimalRefuses(t *testing.T) {
	for _, c := range []struct {
		in   string
		t    Type
		want string
	}{
		{"1.005", Type{Decimal, 18, 2, 0, false}, "1.005 has 3 digits after the point, decimal(18,2) keeps 2"},
		{"1E-3", Type{Decimal, 18, 2, 0, false}, "decimal(18,2) keeps 2"},
		{"100", Type{Decimal, 4, 2, 0, false}, "100 needs 5 digits at scale 2, decimal(4,2) has 4"},
		{"1E38", Type{Decimal, 38, 0, 0, false}, "needs 39 digits"},
		{"1E32767", Type{Decimal, 38, 0, 0, false}, "needs 32768 digits"},
		{strings.Repeat("9", 39), Type{Decimal, 38, 0, 0, false}, "more than 38 digits"},
		{"", Type{Decimal, 38, 0, 0, false}, `"" is not a number`},
		{".", Type{Decimal, 38, 0, 0, false}, "is not a number"},
		{"-", Type{Decimal, 38, 0, 0, false}, "is not a number"},
		{"1.2.3", Type{Decimal, 38, 5, 0, false}, "is not a number"},
		{"1,5", Type{Decimal, 38, 5, 0, false}, "is not a number"},
		{"1E", Type{Decimal, 38, 5, 0, false}, "is not a number"},
		{"1E99999", Type{Decimal, 38, 5, 0, false}, "is not a number"},
		{"Inf", Type{Decimal, 38, 5, 0, false}, "is not a number"},
	} {
		_, err := ParseDecimal(c.in, c.t)
		if !errors.Is(err, ErrValue) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q as %s: %v, want ErrValue with %q", c.in, c.t, err, c.want)
		}
	}
}

func TestDecimalTextAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, scale := anyInt128.Draw(t, "n"), rapid.IntRange(0, 38).Draw(t, "scale")
		text := FormatDecimal(n, scale)
		if want := formatBig(n.Big(), scale); text != want {
			t.Fatalf("FormatDecimal = %s, want %s", text, want)
		}
		back, err := ParseDecimal(text, Type{Kind: Decimal, Precision: 38, Scale: scale})
		tooLong := len(new(big.Int).Abs(n.Big()).String()) > 38
		if tooLong != (err != nil) || (err == nil && back != n) {
			t.Fatalf("%s reads back as %s, %v", text, back.Big(), err)
		}
	})
}

func TestCompareDecimal(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"10", "9", 1}, {"-10", "-9", -1}, {"1.50", "1.5", 0}, {"-0.1", "0", -1},
		{strings.Repeat("9", 60), strings.Repeat("9", 60) + ".1", -1},
	} {
		if got, err := CompareDecimal(c.a, c.b); err != nil || got != c.want {
			t.Errorf("CompareDecimal(%s, %s) = %d, %v; want %d", c.a, c.b, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "-", "1.", ".", "1e5", "+1", "--1", "1-", "x"} {
		if _, err := CompareDecimal("1", bad); !errors.Is(err, ErrValue) {
			t.Errorf("CompareDecimal(1, %q): %v, want ErrValue", bad, err)
		}
	}
}

func FuzzParseDecimal(f *testing.F) {
	for _, s := range []string{"0", "-1.50", "1E5", ".5", "99999999999999999999999999999999999999"} {
		f.Add(s, 38, 10)
	}
	f.Fuzz(func(t *testing.T, s string, precision, scale int) {
		if precision < 1 || precision > 38 || scale < 0 || scale > precision {
			return
		}
		typ := Type{Kind: Decimal, Precision: precision, Scale: scale}
		n, err := ParseDecimal(s, typ)
		if err != nil {
			return
		}
		want, ok := new(big.Rat).SetString(s)
		got, _ := new(big.Rat).SetString(FormatDecimal(n, scale))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%q as %s = %s", s, typ, FormatDecimal(n, scale))
		}
	})
}
