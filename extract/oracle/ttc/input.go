package ttc

import (
	"fmt"
	"io"
)

// input is the stream of TTC bytes that the server sends. A message may be cut by a packet at any byte. The first error
// stays: from then on every read yields zero, so that callers look at err once, at the end of what they read.
//
// The server may break off a call at any byte, too. Then what has been read of its reply is void: reads yield zero until
// the next message.
type input struct {
	link     *link
	bigChunk bool // lengths of chunks are integers, not bytes

	buf      []byte
	pos, end int // buf[pos:end] is unread
	left     int // bytes of the current packet that are still to come
	err      error
	void     bool
}

const (
	firstBuffer = 64 << 10
	// maxUnit bounds what must lie in memory at once: one value, one text.
	maxUnit = 4 << 20
)

func newInput(l *link) *input { return &input{link: l, buf: make([]byte, firstBuffer)} }

func (in *input) fail(err error) {
	if in.err == nil {
		in.err = err
	}
}

// confused is the end of the session: a byte makes no sense.
func (in *input) confused(format string, args ...any) {
	from, to := max(0, in.pos-16), min(in.end, in.pos+16)
	in.fail(fmt.Errorf("%w: %s near % x|% x", ErrProtocol, fmt.Sprintf(format, args...), in.buf[from:in.pos], in.buf[in.pos:to]))
}

// fill brings at least one more byte; false when there is an error.
func (in *input) fill() bool {
	if in.err != nil {
		return false
	}
	if !in.makeRoom() {
		in.confused("a value of more than %d bytes", maxUnit)
		return false
	}
	if err := in.link.allowRead(); err != nil {
		in.fail(err)
		return false
	}
	for in.left == 0 {
		if err := in.packet(); err != nil {
			in.fail(err)
			return false
		}
		if in.void {
			return true
		}
	}
	n, err := in.link.br.Read(in.buf[in.end:min(len(in.buf), in.end+in.left)])
	in.end += n
	in.left -= n
	if n == 0 && err != nil {
		in.fail(cut(err))
		return false
	}
	return true
}

// makeRoom moves what is unread to the front, and doubles the buffer when that is not enough.
func (in *input) makeRoom() bool {
	if in.pos > 0 {
		in.end = copy(in.buf, in.buf[in.pos:in.end])
		in.pos = 0
	}
	if in.end < len(in.buf) {
		return true
	}
	if len(in.buf) >= maxUnit {
		return false
	}
	in.buf = append(in.buf, make([]byte, len(in.buf))...)
	return true
}

// packet takes the next packet, up to its TTC bytes.
func (in *input) packet() error {
	kind, n, err := in.link.header()
	if err != nil {
		return err
	}
	switch kind {
	case packetData:
		return in.dataPacket(n)
	case packetMarker:
		what, err := in.link.marker(n)
		if err != nil {
			return err
		}
		in.pos, in.end, in.void = 0, 0, true
		return in.link.reset(what)
	case packetControl:
		_, err := in.link.br.Discard(n)
		return cut(err)
	default:
		return fmt.Errorf("%w: a packet of type %d", ErrProtocol, kind)
	}
}

func (in *input) dataPacket(n int) error {
	if n < flagsLen {
		return fmt.Errorf("%w: a DATA packet of %d bytes", ErrProtocol, n)
	}
	flags, err := in.link.br.Peek(flagsLen)
	if err != nil {
		return cut(err)
	}
	if flags[1]&endOfFile != 0 {
		return io.ErrUnexpectedEOF
	}
	in.left = n - flagsLen
	_, err = in.link.br.Discard(flagsLen)
	return err
}

// need makes n bytes available.
func (in *input) need(n int) bool {
	for !in.void && in.end-in.pos < n {
		if n > maxUnit {
			in.confused("a value of %d bytes", n)
			return false
		}
		if !in.fill() {
			return false
		}
	}
	return !in.void && in.err == nil
}

// message returns the code of the next message, which is left unread; 0 when there is an error.
func (in *input) message() byte {
	for in.err == nil {
		in.void = false
		if in.need(1) {
			return in.buf[in.pos]
		}
	}
	return 0
}

// u1 reads a byte.
func (in *input) u1() byte {
	if !in.need(1) {
		return 0
	}
	in.pos++
	return in.buf[in.pos-1]
}

// raw reads n bytes. They are valid until the next read.
func (in *input) raw(n int) []byte {
	if n < 0 || !in.need(n) {
		return nil
	}
	in.pos += n
	return in.buf[in.pos-n : in.pos]
}

func (in *input) skip(n int) { in.raw(n) }

const negative = 0x80 // in the length of an integer

// int reads an integer: its length, then so many bytes of magnitude.
func (in *input) int() int64 {
	n := in.u1()
	if n&^negative > 8 {
		in.confused("an integer of %d bytes", n&^negative)
		return 0
	}
	v := int64(0)
	for _, b := range in.raw(int(n &^ negative)) {
		v = v<<8 | int64(b)
	}
	if n&negative != 0 {
		return -v
	}
	return v
}

// ints skips so many integers.
func (in *input) ints(n int) {
	for range n {
		in.int()
	}
}

// count reads an integer that says how much follows.
func (in *input) count(most int64) int {
	n := in.int()
	if n < 0 || n > most {
		in.confused("a count of %d", n)
		return 0
	}
	return int(n)
}

// Lengths of a byte string that are none.
const (
	longString = 0xFE // chunks follow, up to an empty one
	nullString = 0xFF
	nullOther  = 0xFD
)

// clr reads a byte string and returns a copy; nil for NULL.
func (in *input) clr() []byte {
	switch n := in.u1(); n {
	case 0, nullString, nullOther:
		return nil
	case longString:
		return in.chunks()
	default:
		return append([]byte(nil), in.raw(int(n))...)
	}
}

func (in *input) chunks() []byte {
	var out []byte
	for in.err == nil && !in.void {
		if len(out) > maxUnit {
			in.confused("a text of more than %d bytes", maxUnit)
			return nil
		}
		n := 0
		if in.bigChunk {
			n = in.count(maxUnit)
		} else {
			n = int(in.u1())
		}
		if n == 0 {
			break
		}
		out = append(out, in.raw(n)...)
	}
	return out
}

// dalc reads a length and, unless it is 0, a byte string, whose own length is the one to trust.
func (in *input) dalc() []byte {
	if in.int() == 0 {
		return nil
	}
	return in.clr()
}

// pair reads a named value.
func (in *input) pair() (name, value string, flags int64) {
	key := in.dalc()
	for len(key) > 0 && key[len(key)-1] == 0 {
		key = key[:len(key)-1]
	}
	return string(key), string(in.dalc()), in.int()
}
