package extract

import "strconv"

// Batch is a bounded number of rows, column by column. It is reused: Reset keeps the memory. A Reader fills
// it, metrics and the file writer read it; one goroutine at a time owns it. A row exists when every column
// has been appended to and Rows was raised; Truncate takes back a row that was cut in the middle.
type Batch struct {
	Rows int
	Cols []Vector

	// MaxRows and MaxBytes are where a Reader stops filling. MaxBytes counts arena bytes of all text and binary columns.
	MaxRows  int
	MaxBytes int
}

// Vector holds the values of one column. Exactly one of the value slices is in use, by Type.Kind. All slices
// are parallel to Valid: a NULL has a zero value in its place.
type Vector struct {
	Type  Type
	Valid []uint8 // 1 or 0 a row; these are Parquet's definition levels as they stand

	Int   []int64   // Decimal, Precision <= MaxNarrow
	Wide  []Int128  // Decimal, Precision > MaxNarrow
	Day   []int32   // Timestamp: days since 1970-01-01 (proleptic Gregorian)
	Nano  []int64   // Timestamp: nanosecond of day, 0 <= n < 86400e9
	F32   []float32 // Float32
	F64   []float64 // Float64
	Arena []byte    // Text, Binary: all values, end to end
	End   []uint32  // Text, Binary: value i is Arena[End[i-1]:End[i]]
}

// NewBatch makes an empty batch for columns of these types.
func NewBatch(cols []Column, maxRows, maxBytes int) *Batch {
	b := &Batch{Cols: make([]Vector, len(cols)), MaxRows: maxRows, MaxBytes: maxBytes}
	for i, c := range cols {
		b.Cols[i].Type = c.Type
	}
	return b
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() { b.Truncate(0) }

// Truncate drops every row from n on, and what has been appended of a row that was never counted.
func (b *Batch) Truncate(n int) {
	b.Rows = n
	for i := range b.Cols {
		b.Cols[i].truncate(n)
	}
}

// Full says whether a Reader should hand the batch over before it appends another row.
func (b *Batch) Full() bool {
	if b.MaxRows > 0 && b.Rows >= b.MaxRows {
		return true
	}
	return b.MaxBytes > 0 && b.Bytes() >= b.MaxBytes
}

// Bytes is the number of arena bytes in use.
func (b *Batch) Bytes() int {
	n := 0
	for i := range b.Cols {
		n += len(b.Cols[i].Arena)
	}
	return n
}

// Null appends a NULL.
func (v *Vector) Null() {
	v.Valid = append(v.Valid, 0)
	switch {
	case v.Type.Wide():
		v.Wide = append(v.Wide, Int128{})
	case v.Type.Kind == Decimal:
		v.Int = append(v.Int, 0)
	case v.Type.Kind == Timestamp:
		v.Day, v.Nano = append(v.Day, 0), append(v.Nano, 0)
	case v.Type.Kind == Float32:
		v.F32 = append(v.F32, 0)
	case v.Type.Kind == Float64:
		v.F64 = append(v.F64, 0)
	default:
		v.End = append(v.End, uint32(len(v.Arena)))
	}
}

// AppendInt appends a decimal of up to MaxNarrow digits, as the integer value * 10^scale.
func (v *Vector) AppendInt(n int64) { v.Valid, v.Int = append(v.Valid, 1), append(v.Int, n) }

// AppendWide appends a decimal of more than MaxNarrow digits.
func (v *Vector) AppendWide(n Int128) { v.Valid, v.Wide = append(v.Valid, 1), append(v.Wide, n) }

// AppendTime appends a timestamp.
func (v *Vector) AppendTime(day int32, nano int64) {
	v.Valid, v.Day, v.Nano = append(v.Valid, 1), append(v.Day, day), append(v.Nano, nano)
}

// AppendFloat32 appends a single-precision float.
func (v *Vector) AppendFloat32(f float32) { v.Valid, v.F32 = append(v.Valid, 1), append(v.F32, f) }

// AppendFloat64 appends a double-precision float.
func (v *Vector) AppendFloat64(f float64) { v.Valid, v.F64 = append(v.Valid, 1), append(v.F64, f) }

// AppendBytes appends a text or binary value, which is copied.
func (v *Vector) AppendBytes(p []byte) {
	v.Arena = append(v.Arena, p...)
	v.Valid, v.End = append(v.Valid, 1), append(v.End, uint32(len(v.Arena)))
}

// AppendString is AppendBytes for a string.
func (v *Vector) AppendString(s string) {
	v.Arena = append(v.Arena, s...)
	v.Valid, v.End = append(v.Valid, 1), append(v.End, uint32(len(v.Arena)))
}

// At returns text or binary value i. It aliases the arena.
func (v *Vector) At(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = v.End[i-1]
	}
	return v.Arena[start:v.End[i]]
}

// IsNull says whether value i is NULL.
func (v *Vector) IsNull(i int) bool { return v.Valid[i] == 0 }

// DecimalAt returns decimal i, narrow or wide, as an integer of the column's scale.
func (v *Vector) DecimalAt(i int) Int128 {
	if v.Type.Wide() {
		return v.Wide[i]
	}
	return NewInt128(v.Int[i])
}

// AppendText appends the text of value i, which is not NULL: canonical for decimals and timestamps, the bytes
// as they are for text and binary, the shortest exact form for floats.
func (v *Vector) AppendText(dst []byte, i int) []byte {
	switch v.Type.Kind {
	case Decimal:
		return AppendDecimal(dst, v.DecimalAt(i), v.Type.Scale)
	case Timestamp:
		return AppendTimestamp(dst, v.Day[i], v.Nano[i])
	case Float32:
		return strconv.AppendFloat(dst, float64(v.F32[i]), 'g', -1, 32)
	case Float64:
		return strconv.AppendFloat(dst, v.F64[i], 'g', -1, 64)
	default:
		return append(dst, v.At(i)...)
	}
}

// Len is the number of values, NULLs included.
func (v *Vector) Len() int { return len(v.Valid) }

func (v *Vector) truncate(n int) {
	if n >= len(v.Valid) {
		return
	}
	v.Valid = v.Valid[:n]
	switch {
	case v.Type.Wide():
		v.Wide = v.Wide[:n]
	case v.Type.Kind == Decimal:
		v.Int = v.Int[:n]
	case v.Type.Kind == Timestamp:
		v.Day, v.Nano = v.Day[:n], v.Nano[:n]
	case v.Type.Kind == Float32:
		v.F32 = v.F32[:n]
	case v.Type.Kind == Float64:
		v.F64 = v.F64[:n]
	default:
		v.End = v.End[:n]
		end := uint32(0)
		if n > 0 {
			end = v.End[n-1]
		}
		v.Arena = v.Arena[:end]
	}
}
