package generate

import (
	"math"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Rule makes the values of a column.
type Rule interface {
	// value makes one value from the digits of r; it is called once for each row of the cycle.
	value(r *digits) ora.Value
}

type (
	// Sequence is Start, Start+Step, ...: a key. It does not repeat.
	Sequence struct{ Start, Step int64 }
	// Decimals are uniform between Low and High, both counted in units of 10 to the -Scale.
	Decimals struct {
		Low, High int64
		Scale     int
	}
	// Choice takes one of some values, each half as often as the one before when Skewed, else all equally often.
	Choice struct {
		Values []ora.Value
		Skewed bool
	}
	// Text is Min to Max characters out of Letters, each repeated blanks and all; empty Letters are a to z.
	Text struct {
		Min, Max int
		Letters  string
	}
	// Times are uniform between From and Seconds later, with Digits fraction digits; Type says how they are encoded.
	Times struct {
		From    ora.Time
		Seconds int64
		Digits  int
		Code    uint8 // ora.Date, Timestamp, TimestampTZ or TimestampLTZ
		Offset  int   // TimestampTZ: minutes east of UTC
	}
	// Bytes are Min to Max random bytes.
	Bytes struct{ Min, Max int }
	// Floats are uniform between Low and High; Single makes BINARY_FLOATs.
	Floats struct {
		Low, High float64
		Single    bool
	}
)

// digits is a stream of pseudo-random bits (splitmix64), fixed by its start.
type digits uint64

func (r *digits) next() uint64 {
	*r += 0x9E3779B97F4A7C15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// below is a number from 0 to n-1; 0 when there is no choice.
func (r *digits) below(n uint64) uint64 {
	if n <= 1 {
		return 0
	}
	return r.next() % n
}

func (r *digits) between(low, high int) int { return low + int(r.below(uint64(high-low)+1)) }

func (r *digits) unit() float64 { return float64(r.next()>>11) / (1 << 53) }

func (s Sequence) value(*digits) ora.Value { return nil } // never asked: the table counts itself

func (d Decimals) value(r *digits) ora.Value {
	n := d.Low + int64(r.below(uint64(d.High-d.Low)+1))
	return scaled(n, d.Scale).Encode()
}

// scaled is n times 10 to the -scale.
func scaled(n int64, scale int) ora.Num {
	x, unit := ora.NumFromInt(n), int64(1)
	for range scale {
		unit *= 10
	}
	q, err := x.Div(ora.NumFromInt(unit))
	if err != nil {
		panic(err) // an int64 over a power of ten is in range
	}
	return q
}

func (c Choice) value(r *digits) ora.Value {
	if !c.Skewed {
		return c.Values[r.below(uint64(len(c.Values)))]
	}
	i := 0
	for i < len(c.Values)-1 && r.next()&1 == 0 {
		i++
	}
	return c.Values[i]
}

func (t Text) value(r *digits) ora.Value {
	letters := []rune(t.Letters)
	if len(letters) == 0 {
		letters = []rune("abcdefghijklmnopqrstuvwxyz")
	}
	text := make([]rune, r.between(t.Min, t.Max))
	for i := range text {
		text[i] = letters[r.below(uint64(len(letters)))]
	}
	return ora.Value(string(text))
}

func (t Times) value(r *digits) ora.Value {
	at := t.From.AddSeconds(int64(r.below(uint64(t.Seconds))))
	if t.Digits > 0 {
		unit := int(math.Pow10(9 - t.Digits))
		at.Nano = int(r.below(uint64(math.Pow10(t.Digits)))) * unit
	}
	switch t.Code {
	case ora.Date:
		return at.EncodeDate()
	case ora.TimestampTZ:
		return at.EncodeTZ(t.Offset)
	}
	return at.EncodeTimestamp()
}

func (b Bytes) value(r *digits) ora.Value {
	v := make(ora.Value, r.between(b.Min, b.Max))
	for i := range v {
		v[i] = byte(r.next())
	}
	return v
}

func (f Floats) value(r *digits) ora.Value {
	x := f.Low + r.unit()*(f.High-f.Low)
	if f.Single {
		return ora.EncodeFloat(float32(x))
	}
	return ora.EncodeDouble(x)
}
