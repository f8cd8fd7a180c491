package wire

import "encoding/binary"

// TTC message codes.
const (
	msgProtocol       = 1
	msgDataTypes      = 2
	msgFunction       = 3
	msgError          = 4 // the end-of-call record (OER)
	msgRowHeader      = 6
	msgRow            = 7
	msgParameter      = 8 // RPA
	msgStatus         = 9
	msgIOVector       = 11
	msgLOBData        = 14
	msgDescribe       = 16
	msgPiggyback      = 17
	msgFlushOutBinds  = 19
	msgBitVector      = 21
	msgServerSideNote = 23   // session state from the server
	msgANO            = 0xDE // first byte of DE AD BE EF
)

const (
	anoMagicRest = 3
	zoneBlockLen = 11
)

// zoneBlock is +00:00 as DATA TYPES and the session state carry a time zone.
func zoneBlock() []byte { return []byte{0x80, 0, 0, 0, 60, 60, 60, 0x80, 0, 0, 0} }

// protocol answers PROTOCOL: who we are, the character sets, our capabilities.
func (s *session) protocol() error {
	d := &s.dec
	d.cstring(16) // protocol versions
	s.login.Driver = d.cstring(128)
	if d.err != nil {
		return d.err
	}
	e := &s.enc
	e.raw(msgProtocol, 6, 0)
	e.raw([]byte("x86_64/Linux 2.4.xx\x00")...)
	e.le16(charsetUTF8)
	e.u8(1) // server flags
	e.le16(0)
	// The FDO: clients use only the lengths at 5 and 6 and the national character set, which stands
	// 6 + a + b + 3 bytes in.
	e.be16(13)
	e.raw(0, 0, 0, 0, 0, 1, 1, 0, 0)
	e.be16(charsetUTF8)
	e.be16(charsetUTF16)
	compile, runtime := serverCaps(s.cfg.FieldVersion), serverRuntimeCaps()
	e.u8(byte(len(compile)))
	e.raw(compile...)
	e.u8(byte(len(runtime)))
	e.raw(runtime...)
	return s.flush()
}

// dataTypes learns the client's capabilities and echoes its list of type representations.
func (s *session) dataTypes() error {
	d, e := &s.dec, &s.enc
	d.le16() // character set, twice: clients send UTF-8 whatever they say
	d.le16()
	flags := d.u8()
	compile := d.raw(int(d.u8()))
	runtime := d.raw(int(d.u8()))
	zone, zoneVersion := has(runtime, capZone, 1), has(compile, capTTC3, 2)
	e.u8(msgDataTypes)
	if zone {
		d.skip(zoneBlockLen)
		e.raw(zoneBlock()...)
		if zoneVersion {
			d.skip(4)
			e.raw(0, 0, 0, 0x2A)
		}
	}
	if has(compile, capTTC2, 1) {
		d.le16() // national character set
	}
	if d.err != nil {
		return d.err
	}
	c := caps{fieldVersion: s.cfg.FieldVersion, chrIsCLR: flags&2 != 0, bigCLR: has(compile, capTTC3, 0x20)}
	if len(compile) > capFieldVersion {
		c.fieldVersion = min(c.fieldVersion, int(compile[capFieldVersion]))
	}
	c.sb1Universal = s.echoTypes(has(compile, capTypeNumbers, 0xFF))
	if d.err != nil {
		return d.err
	}
	s.setCaps(c)
	return s.flush()
}

// echoTypes copies the client's type list to the reply. It says whether SB1 is universal for this client.
func (s *session) echoTypes(wide bool) (sb1Universal bool) {
	const typeSB1, universal = 27, 1
	d, e := &s.dec, &s.enc
	read, write := func() int { return int(d.u8()) }, func(v int) { e.u8(byte(v)) }
	if wide {
		read, write = func() int { return int(d.be16()) }, func(v int) { e.be16(uint16(v)) }
	}
	for d.err == nil {
		code := read()
		write(code)
		if code == 0 {
			break
		}
		converted := read()
		write(converted)
		if converted == 0 {
			continue // not supported: the entry ends here
		}
		representation := read() // may itself be 0
		for r := read(); r != 0 && d.err == nil; r = read() {
			representation = r // OCI offers several
		}
		write(representation)
		write(0)
		if code == typeSB1 {
			sb1Universal = representation == universal
		}
	}
	return sb1Universal
}

// ANO services, and the types of their sub-packets.
const (
	anoSupervisor = 4
	anoAuth       = 1
	anoEncryption = 2
	anoIntegrity  = 3

	anoBytes   = 1
	anoUB1     = 2
	anoVersion = 5
	anoStatus  = 6
)

// ano answers the native network services: nothing is enabled.
func (s *session) ano() error {
	const versionField = "\x13\x00\x00\x00"
	d := &s.dec
	d.skip(anoMagicRest)
	n := int(d.be16())
	d.skip(n - 6)
	if d.err != nil {
		return d.err
	}
	e := &s.enc
	e.raw(0xDE, 0xAD, 0xBE, 0xEF, 0, 0, 0, 0, 0, 0, 0, 4, 0)
	version := anoSub(anoVersion, versionField)
	e.anoService(anoSupervisor, version, anoSub(anoStatus, "\x00\x1F"),
		anoSub(anoBytes, "\xDE\xAD\xBE\xEF\x00\x03\x00\x00\x00\x02\x00\x04\x00\x01"))
	e.anoService(anoAuth, version, anoSub(anoStatus, "\xFB\xFF"))
	e.anoService(anoEncryption, version, anoSub(anoUB1, "\x00"))
	e.anoService(anoIntegrity, version, anoSub(anoUB1, "\x00"))
	binary.BigEndian.PutUint16(e.b[4:], uint16(len(e.b)))
	return s.flush()
}

func anoSub(kind byte, data string) []byte {
	return append([]byte{0, byte(len(data)), 0, kind}, data...)
}

func (e *encoder) anoService(id uint16, subs ...[]byte) {
	e.be16(id)
	e.be16(uint16(len(subs)))
	e.raw(0, 0, 0, 0)
	for _, sub := range subs {
		e.raw(sub...)
	}
}
