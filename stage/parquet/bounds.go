package parquet

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
)

// bounds are the least and the greatest value of a column chunk. low is above high where there is none.
type bounds struct{ low, high extract.Int128 }

func noBounds() bounds {
	return bounds{
		low:  extract.Int128{Hi: math.MaxInt64, Lo: math.MaxUint64},
		high: extract.Int128{Hi: math.MinInt64},
	}
}

func (b bounds) empty() bool { return b.low.Cmp(b.high) > 0 }

func (b bounds) with(other bounds) bounds {
	if other.low.Cmp(b.low) < 0 {
		b.low = other.low
	}
	if other.high.Cmp(b.high) > 0 {
		b.high = other.high
	}
	return b
}

func narrowBounds(values []int64, valid []uint8) bounds {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i, n := range values {
		null := int64(valid[i]) - 1 // all bits of a NULL, which is then neither the least nor the greatest
		low = min(low, n&^null|math.MaxInt64&null)
		high = max(high, n&^null|math.MinInt64&null)
	}
	if low > high { // all are NULL
		return noBounds()
	}
	return bounds{low: extract.NewInt128(low), high: extract.NewInt128(high)}
}

func wideBounds(values []extract.Int128, valid []uint8) bounds {
	b := noBounds()
	for i, n := range values {
		if valid[i] == 0 {
			continue
		}
		if n.Cmp(b.low) < 0 {
			b.low = n
		}
		if n.Cmp(b.high) > 0 {
			b.high = n
		}
	}
	return b
}

// statistics are what the footer says of a chunk. Bounds are exact or not there. Those of decimals are in the signed
// order that the footer's column orders promise, in the fields that only readers of that order look at.
func (c *column) statistics() format.Statistics {
	s := format.Statistics{NullCount: c.chunk.nulls}
	if c.chunk.bounds.empty() {
		return s
	}
	low, high := c.chunk.bounds.low, c.chunk.bounds.high
	if c.typ.Kind == extract.Timestamp {
		s.MinValue = binary.LittleEndian.AppendUint64(nil, low.Lo)
		s.MaxValue = binary.LittleEndian.AppendUint64(nil, high.Lo)
		return s
	}
	s.MinValue, _ = low.AppendFixed(nil, c.width) // it fits: every value was checked
	s.MaxValue, _ = high.AppendFixed(nil, c.width)
	return s
}
