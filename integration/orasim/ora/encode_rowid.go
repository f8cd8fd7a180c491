package ora

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// RowID is an extended ROWID. As a Value (type code Rowid) it is 12 big-endian bytes, object, file, block,
// slot, so that bytes compare as ROWIDs do; the wire has its own form for it.
type RowID struct {
	Object uint32 // data object number
	File   uint16 // relative file number
	Block  uint32
	Slot   uint16
}

const rowidAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// Encode returns the 12 bytes.
func (r RowID) Encode() Value {
	v := binary.BigEndian.AppendUint32(make(Value, 0, 12), r.Object)
	v = binary.BigEndian.AppendUint16(v, r.File)
	v = binary.BigEndian.AppendUint32(v, r.Block)
	return binary.BigEndian.AppendUint16(v, r.Slot)
}

// DecodeRowID reads the 12 bytes.
func DecodeRowID(v Value) (RowID, error) {
	if len(v) != 12 {
		return RowID{}, fmt.Errorf("decode rowid: %d bytes", len(v))
	}
	return RowID{
		Object: binary.BigEndian.Uint32(v), File: binary.BigEndian.Uint16(v[4:]),
		Block: binary.BigEndian.Uint32(v[6:]), Slot: binary.BigEndian.Uint16(v[10:]),
	}, nil
}

// String is the 18 characters OOOOOOFFFBBBBBBRRR.
func (r RowID) String() string {
	b := make([]byte, 0, 18)
	for _, part := range []struct{ value, chars uint32 }{
		{r.Object, 6}, {uint32(r.File), 3}, {r.Block, 6}, {uint32(r.Slot), 3},
	} {
		for i := int(part.chars) - 1; i >= 0; i-- {
			b = append(b, rowidAlphabet[part.value>>(6*i)&63])
		}
	}
	return string(b)
}

// ParseRowID reads the 18 characters.
func ParseRowID(s string) (RowID, error) {
	if len(s) != 18 {
		return RowID{}, fmt.Errorf("parse rowid %q: want 18 characters", s)
	}
	var parts [4]uint64
	at := 0
	for p, chars := range [4]int{6, 3, 6, 3} {
		for range chars {
			d := strings.IndexByte(rowidAlphabet, s[at])
			if d < 0 {
				return RowID{}, fmt.Errorf("parse rowid %q: bad character %q", s, s[at])
			}
			parts[p] = parts[p]<<6 | uint64(d)
			at++
		}
	}
	r := RowID{uint32(parts[0]), uint16(parts[1]), uint32(parts[2]), uint16(parts[3])}
	if r.String() != s {
		return RowID{}, fmt.Errorf("parse rowid %q: out of range", s)
	}
	return r, nil
}
