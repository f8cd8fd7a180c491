package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxField bounds one byte string of a request, so that a bad length cannot take all memory.
const maxField = 64 << 20

// errDecode is the kind of every error that the decoder itself raises: the client's bytes are not what TTC
// allows, and the session cannot go on.
var errDecode = errors.New("decode request")

// decoder reads TTC's primitive encodings from the client's byte stream, which packets may cut anywhere.
// The first error sticks: later reads return zero values, so callers check err once, after a message or
// before acting on a count.
type decoder struct {
	// fill returns the next piece of the stream. The decoder keeps the slice and never writes below its length.
	fill func() ([]byte, error)
	caps caps
	buf  []byte // unread
	last []byte // the newest piece, for the hex dump
	err  error
}

// reset forgets what is unread and any error, as after a break.
func (d *decoder) reset() { d.buf, d.err = nil, nil }

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %w", errDecode, fmt.Errorf(format, args...))
	}
}

// raw returns the next n bytes; nil after an error.
func (d *decoder) raw(n int) []byte {
	if d.err == nil && (n < 0 || n > maxField) {
		d.fail("field of %d bytes", n)
	}
	for d.err == nil && len(d.buf) < n {
		piece, err := d.fill()
		if err != nil {
			d.err = err
			break
		}
		d.last = piece
		if len(d.buf) == 0 {
			d.buf = piece
		} else {
			d.buf = append(d.buf, piece...)
		}
	}
	if d.err != nil {
		return nil
	}
	out := d.buf[:n:n]
	d.buf = d.buf[n:]
	return out
}

func (d *decoder) skip(n int) { d.raw(n) }

func (d *decoder) u8() byte {
	if b := d.raw(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) be16() uint16 {
	if b := d.raw(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (d *decoder) le16() uint16 {
	if b := d.raw(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// sint reads a universal integer.
func (d *decoder) sint() int64 {
	size := d.u8()
	n := int(size &^ 0x80)
	if n > 8 {
		d.fail("integer of %d bytes", n)
		return 0
	}
	var v int64
	for _, b := range d.raw(n) {
		v = v<<8 | int64(b)
	}
	if size&0x80 != 0 {
		return -v
	}
	return v
}

// uint reads a universal integer that cannot be negative.
func (d *decoder) uint() uint64 {
	v := d.sint()
	if v < 0 {
		d.fail("negative integer %d", v)
		return 0
	}
	return uint64(v)
}

// u32 reads a universal integer of at most 32 bits.
func (d *decoder) u32() uint32 {
	v := d.uint()
	if v > 0xFFFFFFFF {
		d.fail("integer %d is wider than 32 bits", v)
		return 0
	}
	return uint32(v)
}

// count reads the number of things that follow, at most limit; 0 after an error.
func (d *decoder) count(limit int) int {
	v := d.uint()
	if v > uint64(limit) {
		d.fail("count %d is above %d", v, limit)
		return 0
	}
	return int(v)
}

// sb1 reads a field of type SB1 in the representation that the client declared.
func (d *decoder) sb1() int8 {
	if d.caps.sb1Universal {
		return int8(d.sint())
	}
	return int8(d.u8())
}

// clr reads a byte string; nil is NULL.
func (d *decoder) clr() []byte {
	switch n := d.u8(); n {
	case 0, 0xFF, 0xFD:
		return nil
	case clrLong:
		return d.chunks()
	default:
		return d.raw(int(n))
	}
}

func (d *decoder) chunks() []byte {
	var out []byte
	for d.err == nil {
		n := 0
		if d.caps.bigCLR {
			n = d.count(maxField)
		} else {
			n = int(d.u8())
		}
		if n == 0 {
			break
		}
		if len(out)+n > maxField {
			d.fail("byte string longer than %d", maxField)
			break
		}
		out = append(out, d.raw(n)...)
	}
	if d.err != nil {
		return nil
	}
	return out
}

// dalc reads a length and, unless it is 0, a CLR. The CLR is the truth: the length may count bytes reserved.
func (d *decoder) dalc() []byte {
	if d.uint() == 0 {
		return nil
	}
	return d.clr()
}

// chr reads a character field whose length n was read before.
func (d *decoder) chr(n int) []byte {
	if d.caps.chrIsCLR {
		return d.clr()
	}
	return d.raw(n)
}

// cstring reads up to and including a NUL, at most limit bytes.
func (d *decoder) cstring(limit int) string {
	var out []byte
	for d.err == nil {
		c := d.u8()
		if c == 0 {
			break
		}
		if len(out) == limit {
			d.fail("text longer than %d bytes", limit)
			break
		}
		out = append(out, c)
	}
	return string(out)
}
