package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Versions of Oracle Net.
const (
	tnsVersion = 318 // what we agree to at most
	tnsWide    = 315 // from here on packet lengths have four bytes
	tnsLowest  = 300
)

// NSI flags of ACCEPT: how the native network services (ANO) stand.
const (
	nsiDisabled   = 0x0500 // wanted, but disabled for this connection: clients skip the exchange
	nsiAsked      = 0x4101 // what a server without encryption sends: clients run the exchange
	nsiClientOff  = 0xC500 // the answer to a client that disabled it
	nsiDisableBit = 0x04
)

// connectRequest is what CONNECT carries, as far as we use it. Offsets are Oracle's, from the header on.
type connectRequest struct {
	version  int
	sdu, tdu int
	nsi      byte
	dataLen  int // of the connect data
	data     []byte
}

var errConnect = errors.New("read CONNECT")

func parseConnect(body []byte) (connectRequest, error) {
	if len(body) < 26 {
		return connectRequest{}, fmt.Errorf("%w: %d bytes", errConnect, len(body))
	}
	at := func(offset int) int { return int(binary.BigEndian.Uint16(body[offset-headerLen:])) }
	r := connectRequest{version: at(8), sdu: at(14), tdu: at(16), dataLen: at(24), nsi: body[32-headerLen]}
	if r.version < tnsLowest {
		return r, fmt.Errorf("%w: version %d", errConnect, r.version)
	}
	if r.version >= tnsWide && len(body) >= 66-headerLen {
		r.sdu = int(binary.BigEndian.Uint32(body[58-headerLen:]))
		r.tdu = int(binary.BigEndian.Uint32(body[62-headerLen:]))
	}
	if from := at(26) - headerLen; from >= 0 && from+r.dataLen <= len(body) {
		r.data = body[from : from+r.dataLen]
	}
	return r, nil
}

// readConnect reads CONNECT and, where it is too long to be inside, the connect data that follows in a DATA
// packet of its own.
func (c *conn) readConnect() (connectRequest, error) {
	p, err := readPacket(c.br, false)
	if err != nil {
		return connectRequest{}, err
	}
	if p.kind != packetConnect {
		return connectRequest{}, fmt.Errorf("%w: packet type %d", errConnect, p.kind)
	}
	r, err := parseConnect(p.body)
	if err != nil || r.dataLen == 0 || len(r.data) > 0 {
		return r, err
	}
	p, err = readPacket(c.br, false)
	if err != nil {
		return r, err
	}
	if p.kind != packetData || len(p.body) < dataFlagsLen {
		return r, fmt.Errorf("%w: packet type %d instead of connect data", errConnect, p.kind)
	}
	r.data = p.body[dataFlagsLen:]
	return r, nil
}

// accept answers CONNECT and starts the packet format that was agreed.
func (c *conn) accept(r connectRequest, maxSDU int, ano bool) error {
	version := min(r.version, tnsVersion)
	sdu := max(min(r.sdu, maxSDU), minSDU)
	b := make([]byte, 45-headerLen)
	put16 := func(offset int, v int) { binary.BigEndian.PutUint16(b[offset-headerLen:], uint16(v)) }
	put16(8, version)
	put16(10, 1) // options: no out-of-band breaks
	if version < tnsWide {
		put16(12, min(sdu, 0xFFFF))
		put16(14, min(r.tdu, 0xFFFF))
	}
	binary.LittleEndian.PutUint16(b[16-headerLen:], 1)
	put16(20, 45) // offset of the accept data, of which there is none
	put16(22, nsiAnswer(r.nsi, ano))
	binary.BigEndian.PutUint32(b[32-headerLen:], uint32(sdu))
	binary.BigEndian.PutUint32(b[36-headerLen:], uint32(sdu))
	if err := c.sendPacket(packetAccept, b); err != nil {
		return err
	}
	c.sdu, c.wide = sdu, version >= tnsWide
	return nil
}

func nsiAnswer(client byte, ano bool) int {
	switch {
	case client&nsiDisableBit != 0:
		return nsiClientOff
	case ano:
		return nsiAsked
	}
	return nsiDisabled
}

// refuse answers CONNECT with a listener's error.
func (c *conn) refuse(code int) error {
	text := fmt.Sprintf("(DESCRIPTION=(TMP=)(VSNNUM=318767104)(ERR=%d)(ERROR_STACK=(ERROR=(CODE=%d)(EMFI=4))))", code, code)
	b := binary.BigEndian.AppendUint16([]byte{34, 0}, uint16(len(text)))
	return c.sendPacket(packetRefuse, append(b, text...))
}

// Codes of a listener.
const (
	errNoServiceName  = 12504
	errUnknownSID     = 12505
	errUnknownService = 12514
)

// serviceOf returns the service or SID that a connect descriptor names, and the code for a name not served.
func serviceOf(descriptor string) (name string, unknown int) {
	if name = descriptorValue(descriptor, "SERVICE_NAME"); name != "" {
		return name, errUnknownService
	}
	return descriptorValue(descriptor, "SID"), errUnknownSID
}

// descriptorValue finds "(KEY=value)" in a connect descriptor; blanks and case of the key do not matter.
func descriptorValue(descriptor, key string) string {
	for _, part := range strings.Split(descriptor, "(") {
		name, value, ok := strings.Cut(part, "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), key) {
			continue
		}
		value, _, _ = strings.Cut(value, ")")
		return strings.Trim(strings.TrimSpace(value), `"`)
	}
	return ""
}
