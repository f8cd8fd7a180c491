package wire

import (
	"encoding/binary"
	"math/bits"
)

const (
	clrShort = 252   // longest CLR with a one-byte length
	clrChunk = 32767 // longest chunk that clients write and read
	clrLong  = 0xFE  // introduces the chunked form
)

// encoder appends TTC's primitive encodings to a buffer. It knows nothing of packets.
type encoder struct {
	caps caps
	b    []byte
}

func (e *encoder) u8(v byte)     { e.b = append(e.b, v) }
func (e *encoder) raw(v ...byte) { e.b = append(e.b, v...) }
func (e *encoder) be16(v uint16) { e.b = binary.BigEndian.AppendUint16(e.b, v) }
func (e *encoder) le16(v uint16) { e.b = binary.LittleEndian.AppendUint16(e.b, v) }

// flag appends 1 or 0.
func (e *encoder) flag(v bool) {
	if v {
		e.u8(1)
	} else {
		e.u8(0)
	}
}

// uint appends a universal integer: a size byte, then that many big-endian bytes, as few as will do.
func (e *encoder) uint(v uint64) {
	n := (bits.Len64(v) + 7) / 8
	e.b = append(e.b, byte(n))
	for i := n - 1; i >= 0; i-- {
		e.b = append(e.b, byte(v>>(8*i)))
	}
}

// sint appends a signed universal integer: bit 0x80 of the size byte is the sign.
func (e *encoder) sint(v int64) {
	if v >= 0 {
		e.uint(uint64(v))
		return
	}
	at := len(e.b)
	e.uint(-uint64(v))
	e.b[at] |= 0x80
}

// sb1 appends a field of type SB1 in the representation that the client declared.
func (e *encoder) sb1(v int8) {
	if e.caps.sb1Universal {
		e.sint(int64(v))
		return
	}
	e.u8(byte(v))
}

// clr appends a byte string; an empty one is NULL.
func (e *encoder) clr(v []byte) {
	if len(v) <= clrShort {
		e.b = append(e.b, byte(len(v)))
		e.b = append(e.b, v...)
		return
	}
	e.u8(clrLong)
	chunk := clrShort
	if e.caps.bigCLR {
		chunk = clrChunk
	}
	for len(v) > 0 {
		n := min(len(v), chunk)
		if e.caps.bigCLR {
			e.uint(uint64(n))
		} else {
			e.u8(byte(n))
		}
		e.raw(v[:n]...)
		v = v[n:]
	}
	e.u8(0)
}

// dalc appends a length and, unless it is 0, a CLR.
func (e *encoder) dalc(v []byte) {
	e.uint(uint64(len(v)))
	if len(v) > 0 {
		e.clr(v)
	}
}

// chr appends a character field whose length was sent before it.
func (e *encoder) chr(v []byte) {
	if e.caps.chrIsCLR {
		e.clr(v)
		return
	}
	e.raw(v...)
}

func (e *encoder) pair(key, value string, flags uint64) {
	e.dalc([]byte(key))
	e.dalc([]byte(value))
	e.uint(flags)
}
