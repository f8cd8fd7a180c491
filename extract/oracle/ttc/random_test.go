package ttc

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// field is a column of a random table: how Oracle declares it, as what it travels, and how its values are made, as the
// bytes that Oracle keeps and as the canonical text that every reader must arrive at.
type field struct {
	declared string
	typ      extract.Type
	bind     ora.Type
	make     func(r *rand.Rand) (ora.Value, string)
}

// fields has every type that is read, at its odd ends: scales that cut a digit of base 100 in two, 38 digits, text that
// comes in chunks.
func fields() []field {
	return []field{
		number("NUMBER(12)", 12, 0), number("NUMBER(18,2)", 18, 2), number("NUMBER(18,17)", 18, 17), number("NUMBER(17,3)", 17, 3),
		number("NUMBER(38,10)", 38, 10), number("NUMBER(38,7)", 38, 7), number("NUMBER(38)", 38, 0), number("NUMBER(38,37)", 38, 37),
		text("VARCHAR2(60 CHAR)", 60), text("VARCHAR2(4000 BYTE)", 1300), char(7), raw(300),
		instant("DATE", 0), instant("TIMESTAMP(6)", 6), instant("TIMESTAMP(9)", 9), float(), double(), grade(),
	}
}

func number(declared string, precision, scale int) field {
	typ := extract.Type{Kind: extract.Decimal, Precision: precision, Scale: scale}
	return field{declared, typ, ora.Type{Code: ora.Number, Scale: ora.ScaleFloating, Bytes: 22}, func(r *rand.Rand) (ora.Value, string) {
		n := randomInteger(r, 1+r.IntN(precision))
		text := decimalText(n, scale)
		num, err := ora.ParseNum(text)
		if err != nil {
			panic(err)
		}
		return num.Encode(), text
	}}
}

// randomInteger has at most so many digits, often with zeros at its end.
func randomInteger(r *rand.Rand, digits int) *big.Int {
	n := new(big.Int)
	for range digits {
		n.Mul(n, big.NewInt(10)).Add(n, big.NewInt(int64(r.IntN(10))))
	}
	if zeros := r.IntN(digits + 1); r.IntN(3) == 0 {
		power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(zeros)), nil)
		n.Sub(n, new(big.Int).Rem(n, power))
	}
	if r.IntN(2) == 0 {
		n.Neg(n)
	}
	return n
}

// decimalText is the canonical text of n at a scale.
func decimalText(n *big.Int, scale int) string {
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

var alphabet = []rune("abc XYZ09'\"\\\n\x00\u00e9\u00df\ud55c\uad6d\u20ac\U0001F600\uFFFD")

func randomText(r *rand.Rand, most int) string {
	out := make([]rune, 1+r.IntN(most))
	for i := range out {
		out[i] = alphabet[r.IntN(len(alphabet))]
	}
	return string(out)
}

func varchar(chars int) ora.Type {
	return ora.Type{Code: ora.Varchar2, Bytes: uint32(4 * chars), Chars: uint32(chars), Form: ora.FormDatabase}
}

// text is of few characters at most times, and of all where a table declares them in bytes.
func text(declared string, most int) field {
	return field{declared, extract.Type{Kind: extract.Text, Length: most}, varchar(most), func(r *rand.Rand) (ora.Value, string) {
		n := min(most, 30)
		if r.IntN(20) == 0 {
			n = most
		}
		s := randomText(r, n)
		for len(s) > 4000 {
			s = s[:len(s)/2]
			s = strings.ToValidUTF8(s, "")
		}
		return ora.Value(s), s
	}}
}

func char(n int) field {
	return field{fmt.Sprintf("CHAR(%d CHAR)", n), extract.Type{Kind: extract.Text, Length: n, Fixed: true}, varchar(n), func(r *rand.Rand) (ora.Value, string) {
		s := randomText(r, n)
		s += strings.Repeat(" ", n-len([]rune(s)))
		return ora.Value(s), s
	}}
}

func raw(most int) field {
	typ := ora.Type{Code: ora.Raw, Bytes: uint32(most)}
	return field{fmt.Sprintf("RAW(%d)", most), extract.Type{Kind: extract.Binary, Length: most}, typ, func(r *rand.Rand) (ora.Value, string) {
		b := make([]byte, 1+r.IntN(most))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return b, string(b)
	}}
}

func instant(declared string, scale int) field {
	typ := ora.Type{Code: ora.Timestamp, Scale: int8(scale), Bytes: 11}
	if declared == "DATE" {
		typ = ora.Type{Code: ora.Date, Bytes: 7}
	}
	return field{declared, extract.Type{Kind: extract.Timestamp, Scale: scale}, typ, func(r *rand.Rand) (ora.Value, string) {
		at := time.Date(1583+r.IntN(8417), 1, 1+r.IntN(366), 0, 0, r.IntN(86400), 0, time.UTC)
		switch r.IntN(4) {
		case 0:
			at = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		case 1:
			at = time.Date(2026, 9, 1+r.IntN(3), 0, 0, r.IntN(86400), 0, time.UTC)
		}
		if at.Year() > 9999 {
			at = at.AddDate(-1, 0, 0)
		}
		unit := time.Duration(math.Pow10(9 - scale))
		if scale > 0 && r.IntN(3) > 0 {
			at = at.Add(time.Duration(r.Int64N(int64(time.Second/unit))) * unit)
		}
		return encodeInstant(at, scale > 0), at.Format("2006-01-02 15:04:05.999999999")
	}}
}

func encodeInstant(at time.Time, fraction bool) ora.Value {
	b := ora.Value{
		byte(at.Year()/100 + 100), byte(at.Year()%100 + 100), byte(at.Month()), byte(at.Day()),
		byte(at.Hour() + 1), byte(at.Minute() + 1), byte(at.Second() + 1),
	}
	if fraction && at.Nanosecond() != 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(at.Nanosecond()))
	}
	return b
}

func float() field {
	return field{"BINARY_FLOAT", extract.Type{Kind: extract.Float32}, ora.Type{Code: ora.BinaryFloat, Bytes: 4}, func(r *rand.Rand) (ora.Value, string) {
		f := math.Float32frombits(r.Uint32())
		if f != f {
			f = float32(math.Inf(-1))
		}
		v := &extract.Vector{Type: extract.Type{Kind: extract.Float32}}
		v.AppendFloat32(f)
		return ora.EncodeFloat(f), string(v.AppendText(nil, 0))
	}}
}

func double() field {
	return field{"BINARY_DOUBLE", extract.Type{Kind: extract.Float64}, ora.Type{Code: ora.BinaryDouble, Bytes: 8}, func(r *rand.Rand) (ora.Value, string) {
		f := math.Float64frombits(r.Uint64())
		if f != f {
			f = math.Inf(1)
		}
		v := &extract.Vector{Type: extract.Type{Kind: extract.Float64}}
		v.AppendFloat64(f)
		return ora.EncodeDouble(f), string(v.AppendText(nil, 0))
	}}
}

// grade has so few values that bit vectors leave most of them out.
func grade() field {
	f := text("VARCHAR2(60 CHAR)", 60)
	f.make = func(r *rand.Rand) (ora.Value, string) {
		if r.IntN(40) == 0 {
			return ora.Value("rare"), "rare"
		}
		return ora.Value("usual"), "usual"
	}
	return f
}

// table is a random table: its rows as Oracle keeps them and as text.
type table struct {
	fields []field
	values [][]ora.Value
	texts  [][]string
}

// randomTable has the number of a row first, then every field, of which a fifth of the values are NULL and a third are
// those of the row before.
func randomTable(seed uint64, rows int, fs []field) *table {
	r := rand.New(rand.NewPCG(seed, 1))
	x := &table{fields: append([]field{number("NUMBER(9)", 9, 0)}, fs...)}
	for i := range rows {
		values, texts := make([]ora.Value, len(x.fields)), make([]string, len(x.fields))
		values[0], texts[0] = ora.EncodeInt(int64(i)), fmt.Sprint(i)
		for j := 1; j < len(x.fields); j++ {
			switch n := r.IntN(15); {
			case n < 3:
			case n < 8 && i > 0:
				values[j], texts[j] = x.values[i-1][j], x.texts[i-1][j]
			default:
				values[j], texts[j] = x.fields[j].make(r)
			}
		}
		x.values, x.texts = append(x.values, values), append(x.texts, texts)
	}
	return x
}

func (x *table) columns() []extract.Column {
	out := make([]extract.Column, len(x.fields))
	for i, f := range x.fields {
		out[i] = extract.Column{Name: fmt.Sprint("C", i), Declared: f.declared, Type: f.typ, Nullable: true}
	}
	return out
}

func (x *table) names() string {
	names := make([]string, len(x.fields))
	for i := range names {
		names[i] = fmt.Sprint("C", i)
	}
	return strings.Join(names, ", ")
}

// query reads the table by fetches of so many rows.
func (x *table) query(fetch int) Query {
	return Query{Text: "SELECT " + x.names() + " FROM APP.RANDOM", Columns: x.columns(), Fetch: fetch}
}

// wantTexts compares rows as texts.
func wantTexts(t *testing.T, what string, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d rows, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		for j := range want[i] {
			if got[i][j] != want[i][j] {
				t.Fatalf("%s: row %d, column %d is %.200q, want %.200q", what, i, j, got[i][j], want[i][j])
			}
		}
	}
}
