package parquet

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/loadctl/loadctl/extract"
)

// PLAIN encodes a page's values one after the other, without its NULLs. Of fixed widths, every value of a Vector is
// written, and the next one overwrites that of a NULL: no branch depends on data.

const int96Length = 12

// room makes dst longer by n values, and some bytes that a value may write beyond its width.
func room(dst []byte, n, width int) []byte {
	return slices.Grow(dst, n*width+16)[:len(dst)+n*width+16]
}

// appendNarrow appends decimals of up to 18 digits as big-endian integers of the width.
func appendNarrow(dst []byte, values []int64, valid []uint8, width int) []byte {
	at := len(dst)
	dst = room(dst, len(values), width)
	shift := 64 - 8*width
	for i, n := range values {
		binary.BigEndian.PutUint64(dst[at:], uint64(n)<<shift)
		at += width * int(valid[i])
	}
	return dst[:at]
}

// appendWide appends decimals of more than 18 digits, in 9 to 16 bytes.
func appendWide(dst []byte, values []extract.Int128, valid []uint8, width int) []byte {
	at := len(dst)
	dst = room(dst, len(values), width)
	shift := 128 - 8*width
	for i, n := range values {
		binary.BigEndian.PutUint64(dst[at:], uint64(n.Hi)<<shift|n.Lo>>(64-shift))
		binary.BigEndian.PutUint64(dst[at+8:], n.Lo<<shift)
		at += width * int(valid[i])
	}
	return dst[:at]
}

// appendInt64 appends timestamps in microseconds.
func appendInt64(dst []byte, values []int64, valid []uint8) []byte {
	at := len(dst)
	dst = room(dst, len(values), 8)
	for i, n := range values {
		binary.LittleEndian.PutUint64(dst[at:], uint64(n))
		at += 8 * int(valid[i])
	}
	return dst[:at]
}

func appendFloat32(dst []byte, values []float32, valid []uint8) []byte {
	at := len(dst)
	dst = room(dst, len(values), 4)
	for i, f := range values {
		binary.LittleEndian.PutUint32(dst[at:], math.Float32bits(f))
		at += 4 * int(valid[i])
	}
	return dst[:at]
}

func appendFloat64(dst []byte, values []float64, valid []uint8) []byte {
	at := len(dst)
	dst = room(dst, len(values), 8)
	for i, f := range values {
		binary.LittleEndian.PutUint64(dst[at:], math.Float64bits(f))
		at += 8 * int(valid[i])
	}
	return dst[:at]
}

// appendTexts appends the values from..to of v, each with its length before it.
func appendTexts(dst []byte, v *extract.Vector, from, to int) []byte {
	start := startOf(v, from)
	dst = slices.Grow(dst, int(v.End[to-1]-start)+4*(to-from))
	for i := from; i < to; i++ {
		end := v.End[i]
		if v.Valid[i] != 0 {
			dst = appendText(dst, v.Arena[start:end])
		}
		start = end
	}
	return dst
}

// startOf is where text i begins in the arena.
func startOf(v *extract.Vector, i int) uint32 {
	if i == 0 {
		return 0
	}
	return v.End[i-1]
}
