package ttc

import (
	"encoding/binary"
	"fmt"
)

// Messages of TTC.
const (
	msgProtocol   = 1
	msgDataTypes  = 2
	msgFunction   = 3
	msgEnd        = 4 // of a call, with its error
	msgRowHeader  = 6
	msgRow        = 7
	msgParameters = 8
	msgStatus     = 9
	msgIOVector   = 11
	msgWarning    = 15
	msgDescribe   = 16
	msgPiggyback  = 17
	msgBitVector  = 21
	msgServerSide = 23
)

// facts are what the negotiation settled and every later message depends on.
type facts struct {
	fieldVersion int
	callStatus   bool // a call status leads OER and STATUS
	endToEnd     bool // so does an end-to-end sequence number
}

// Character sets.
const (
	charsetAL32UTF8 = 873
	charsetUTF8     = 871 // CESU-8; the server converts
)

// compileCaps are the capabilities that we offer: known to be taken by servers from 11.2 to 23ai.
const compileCaps = "\x06\x01\x00\x00\x6A\x01\x01\x0B\x01\x01\x01\x01\x01\x01\x00\x29\x90\x03\x07\x03\x00\x01\x00\xEB\x01\x00\x05\x01" +
	"\x00\x00\x00\x18\x00\x00\x07\x20\x02\x3A\x00\x00\x05\x00\x00\x00\x08"

// Indexes of capabilities.
const (
	capFieldVersion = 7
	capCallStatus   = 15 // bit 1
	capEndToEnd     = 16 // bit 1
	capWideTypes    = 27 // type numbers of two bytes
	capTTC3         = 37 // bit 0x20: big chunks; bit 2: time zone version
	runtimeZone     = 1  // bit 1: a time zone is exchanged
	runtimeLong     = 6  // bits 2 and 4: 32767 bytes of VARCHAR2
)

func bit(caps []byte, at int, mask byte) bool { return at < len(caps) && caps[at]&mask != 0 }

// negotiate exchanges PROTOCOL and DATA TYPES.
func (s *Session) negotiate() error {
	s.out.reset()
	s.out.raw(msgProtocol, 6, 0)
	s.out.text("loadctl\x00")
	if err := s.send(); err != nil {
		return err
	}
	server := s.in.protocol()
	if s.in.err != nil {
		return s.in.err
	}
	if server.charset != charsetAL32UTF8 && server.charset != charsetUTF8 {
		return &UnsupportedError{What: fmt.Sprintf("a database whose character set (number %d) is not Unicode", server.charset)}
	}
	s.settleFacts(server.caps)
	return s.dataTypes(server)
}

// offer is what the server says of itself.
type offer struct {
	charset, national int
	caps, runtime     []byte
}

func (in *input) protocol() offer {
	var o offer
	if m := in.message(); m != msgProtocol && in.err == nil {
		in.confused("message %d instead of PROTOCOL", m)
	}
	in.skip(3)
	for in.u1() != 0 { // the banner
	}
	o.charset = in.little16()
	in.skip(1)
	in.skip(5 * in.little16())
	size := in.raw(2)
	if size == nil {
		return o
	}
	o.national = nationalCharset(in.raw(int(binary.BigEndian.Uint16(size))))
	o.caps = append([]byte(nil), in.raw(int(in.u1()))...)
	o.runtime = append([]byte(nil), in.raw(int(in.u1()))...)
	return o
}

// nationalCharset finds the national character set in the description of formats: behind two parts whose lengths it has.
func nationalCharset(format []byte) int {
	if len(format) < 7 {
		return 0
	}
	at := 6 + int(format[5]) + int(format[6]) + 3
	if at+2 > len(format) {
		return 0
	}
	return int(binary.BigEndian.Uint16(format[at:]))
}

func (in *input) little16() int {
	b := in.raw(2)
	if b == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b))
}

func (s *Session) settleFacts(server []byte) {
	s.fieldVersion = int(compileCaps[capFieldVersion])
	if len(server) > capFieldVersion {
		s.fieldVersion = min(s.fieldVersion, int(server[capFieldVersion]))
	}
	s.callStatus = bit(server, capCallStatus, 1)
	s.endToEnd = bit(server, capEndToEnd, 1)
	s.in.bigChunk = bit(server, capTTC3, 0x20)
	s.out.bigChunk = s.in.bigChunk
}

// terms are the capabilities of both sides.
type terms struct {
	caps, runtime []byte
}

func (t terms) zone() bool        { return bit(t.runtime, runtimeZone, 1) }
func (t terms) zoneVersion() bool { return t.zone() && bit(t.caps, capTTC3, 2) }
func (t terms) wide() bool        { return bit(t.caps, capWideTypes, 0xFF) }

func commonTerms(server offer) terms {
	t := terms{caps: []byte(compileCaps), runtime: []byte{2, 1, 0, 0, 0, 0, 0}}
	if !bit(server.caps, capWideTypes, 0xFF) {
		t.caps[capWideTypes] = 0
	}
	if !bit(server.runtime, runtimeZone, 1) {
		t.runtime[runtimeZone] = 0
	}
	if len(server.runtime) > runtimeLong {
		t.runtime[runtimeLong] |= server.runtime[runtimeLong] & 6
	}
	if !bit(server.caps, capTTC3, 2) {
		t.caps[capTTC3], t.caps[1] = 0, 0
	}
	return t
}

// dataTypes says how values travel. Whatever the database's own character set is, ours is asked for: the server
// converts. Scales are integers and texts carry their length, because this message says so.
func (s *Session) dataTypes(server offer) error {
	const textsHaveLength = 3
	t := commonTerms(server)
	o := &s.out
	o.reset()
	o.raw(msgDataTypes)
	o.little16(charsetAL32UTF8)
	o.little16(charsetAL32UTF8)
	o.raw(textsHaveLength, byte(len(t.caps)))
	o.raw(t.caps...)
	o.raw(byte(len(t.runtime)))
	o.raw(t.runtime...)
	if t.zone() {
		o.raw(0x80, 0, 0, 0, 60, 60, 60, 0x80, 0, 0, 0) // UTC
	}
	if t.zoneVersion() {
		o.raw(0, 0, 0, 0x20)
	}
	o.little16(server.national)
	for _, r := range representations(s.fieldVersion) {
		o.representation(t.wide(), r)
	}
	o.typeNumber(t.wide(), 0)
	if err := s.send(); err != nil {
		return err
	}
	s.in.dataTypes(t)
	return s.in.err
}

func (o *output) typeNumber(wide bool, n int) {
	if wide {
		o.b = binary.BigEndian.AppendUint16(o.b, uint16(n))
		return
	}
	o.raw(byte(n))
}

func (o *output) representation(wide bool, r representation) {
	o.typeNumber(wide, r.from)
	o.typeNumber(wide, r.as)
	if r.as != 0 {
		o.typeNumber(wide, r.form)
		o.typeNumber(wide, 0)
	}
}

// dataTypes reads the server's list, which tells us nothing that we act on.
func (in *input) dataTypes(t terms) {
	if m := in.message(); m != msgDataTypes && in.err == nil {
		in.confused("message %d instead of DATA TYPES", m)
		return
	}
	in.skip(1)
	if t.zone() {
		in.skip(11)
	}
	if t.zoneVersion() {
		in.skip(4)
	}
	number := func() int {
		if !t.wide() {
			return int(in.u1())
		}
		b := in.raw(2)
		if b == nil {
			return 0
		}
		return int(binary.BigEndian.Uint16(b))
	}
	for number() != 0 {
		if number() == 0 {
			continue
		}
		number() // a representation, which may itself be 0
		for number() != 0 {
		}
	}
}
