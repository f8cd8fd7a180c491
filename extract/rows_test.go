package extract

import "pgregory.net/rapid"

// testColumns has one column of every kind.
func testColumns() []Column {
	return []Column{
		{Name: "ID", Type: Type{Kind: Decimal, Precision: 10}},
		{Name: "AMOUNT", Type: Type{Kind: Decimal, Precision: 18, Scale: 2}, Nullable: true},
		{Name: "BIG", Type: Type{Kind: Decimal, Precision: 38, Scale: 10}, Nullable: true},
		{Name: "AT", Type: Type{Kind: Timestamp, Scale: 6}, Nullable: true},
		{Name: "NOTE", Type: Type{Kind: Text, Length: 40}, Nullable: true},
		{Name: "RAW", Type: Type{Kind: Binary}, Nullable: true},
		{Name: "F", Type: Type{Kind: Float32}, Nullable: true},
		{Name: "D", Type: Type{Kind: Float64}, Nullable: true},
	}
}

// value is one value of a test row in a form that can be copied: the batch form of any kind.
type value struct {
	null bool
	wide Int128
	at   instant
	text string
	f    float64
}

var anyValue = rapid.Custom(func(t *rapid.T) value {
	return value{
		null: rapid.IntRange(0, 4).Draw(t, "null") == 0,
		wide: NewInt128(rapid.Int64().Draw(t, "int")),
		at:   instant{rapid.Int32Range(MinDay, MaxDay).Draw(t, "day"), rapid.Int64Range(0, nanosPerDay-1).Draw(t, "nano")},
		text: rapid.StringN(0, 40, 60).Draw(t, "text"),
		f:    rapid.Float64().Draw(t, "float"),
	}
})

var anyRows = rapid.Custom(func(t *rapid.T) [][]value {
	n := len(testColumns())
	return rapid.SliceOfN(rapid.SliceOfN(anyValue, n, n), 0, 30).Draw(t, "rows")
})

func appendValue(v *Vector, x value) {
	switch {
	case x.null:
		v.Null()
	case v.Type.Wide():
		v.AppendWide(x.wide)
	case v.Type.Kind == Decimal:
		v.AppendInt(int64(x.wide.Lo))
	case v.Type.Kind == Timestamp:
		v.AppendTime(x.at.day, x.at.nano)
	case v.Type.Kind == Float32:
		v.AppendFloat32(float32(x.f))
	case v.Type.Kind == Float64:
		v.AppendFloat64(x.f)
	default:
		v.AppendString(x.text)
	}
}

func batchOf(rows [][]value) *Batch {
	b := NewBatch(testColumns(), 0, 0)
	for _, r := range rows {
		for i, x := range r {
			appendValue(&b.Cols[i], x)
		}
		b.Rows++
	}
	return b
}

func digestOf(rows [][]value) Digest {
	d := NewDigester(testColumns())
	d.Add(batchOf(rows))
	return d.Digest()
}
