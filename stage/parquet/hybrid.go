package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Parquet's hybrid of run lengths and bit packing: a run is an even number, twice its length, and one value; or an odd
// one, twice the number of groups of eight and one, and the packed groups.

// appendLevels appends the definition levels of a page, which are 1 or 0, in the form of version 1 pages: with their
// length first.
func appendLevels(dst []byte, levels []uint8, nulls int) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	switch nulls {
	case 0:
		dst = append(binary.AppendUvarint(dst, uint64(len(levels))<<1), 1)
	case len(levels):
		dst = append(binary.AppendUvarint(dst, uint64(len(levels))<<1), 0)
	default:
		dst = binary.AppendUvarint(dst, uint64((len(levels)+7)/8)<<1|1)
		dst = appendBits(dst, levels)
	}
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

// levelsRoom is the most that the levels of so many rows take.
func levelsRoom(rows int) int { return 4 + binary.MaxVarintLen32 + (rows+7)/8 }

// appendBits packs bytes of 1 or 0, the first into the lowest bit.
func appendBits(dst []byte, levels []uint8) []byte {
	for len(levels) >= 8 {
		// The product moves the lowest bit of byte i to bit 56+i; no two of its terms meet.
		dst = append(dst, byte(binary.LittleEndian.Uint64(levels)*0x0102040810204080>>56))
		levels = levels[8:]
	}
	if len(levels) == 0 {
		return dst
	}
	var last byte
	for i, l := range levels {
		last |= l << i
	}
	return append(dst, last)
}

// appendIndexes appends a page's indexes, of which there is one at least, into a dictionary of so many values: their
// width, then one run.
func appendIndexes(dst []byte, indexes []uint32, size int) []byte {
	width := max(bits.Len(uint(size-1)), 1)
	dst = append(dst, byte(width))
	if first := indexes[0]; !slices.ContainsFunc(indexes, func(x uint32) bool { return x != first }) {
		dst = binary.AppendUvarint(dst, uint64(len(indexes))<<1)
		return append(dst, binary.LittleEndian.AppendUint32(nil, first)[:(width+7)/8]...)
	}
	groups := (len(indexes) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	return appendPacked(dst, indexes, width, groups*width)
}

// appendPacked packs values of so many bits, the first into the lowest, and pads them to so many bytes.
func appendPacked(dst []byte, values []uint32, width, length int) []byte {
	end := len(dst) + length
	dst = slices.Grow(dst, length+8)
	var held uint64
	count := 0 // of bits held, under 32 between values
	for _, x := range values {
		held |= uint64(x) << count
		if count += width; count >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(held))
			held >>= 32
			count -= 32
		}
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(held))
	for len(dst) < end {
		dst = append(dst, 0)
	}
	return dst[:end]
}
