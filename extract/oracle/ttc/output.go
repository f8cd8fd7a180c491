package ttc

import "encoding/binary"

// output is a message under construction.
type output struct {
	b        []byte
	bigChunk bool
}

func (o *output) reset()          { o.b = o.b[:0] }
func (o *output) raw(p ...byte)   { o.b = append(o.b, p...) }
func (o *output) text(s string)   { o.b = append(o.b, s...) }
func (o *output) little16(v int)  { o.b = binary.LittleEndian.AppendUint16(o.b, uint16(v)) }
func (o *output) zeros(n int)     { o.b = append(o.b, make([]byte, n)...) }
func (o *output) function(f byte) { o.raw(msgFunction, f, 0) }

// uint writes an integer: its length, then so many bytes.
func (o *output) uint(v uint64) {
	var t [8]byte
	binary.BigEndian.PutUint64(t[:], v)
	i := 0
	for i < 8 && t[i] == 0 {
		i++
	}
	o.b = append(append(o.b, byte(8-i)), t[i:]...)
}

const (
	shortString = 252   // longest string with a length of one byte
	bigChunkLen = 32767 // longest chunk whose length is an integer
)

// clr writes a byte string.
func (o *output) clr(s string) {
	if len(s) <= shortString {
		o.b = append(append(o.b, byte(len(s))), s...)
		return
	}
	o.raw(longString)
	most := shortString
	if o.bigChunk {
		most = bigChunkLen
	}
	for len(s) > 0 {
		n := min(len(s), most)
		if o.bigChunk {
			o.uint(uint64(n))
		} else {
			o.raw(byte(n))
		}
		o.text(s[:n])
		s = s[n:]
	}
	o.raw(0)
}

// dalc writes a length and, unless it is 0, a byte string.
func (o *output) dalc(s string) {
	o.uint(uint64(len(s)))
	if s != "" {
		o.clr(s)
	}
}

// pair writes a named value.
func (o *output) pair(name, value string, flags uint64) {
	o.dalc(name)
	o.dalc(value)
	o.uint(flags)
}
