package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Packet types of Oracle Net.
const (
	packetConnect = 1
	packetAccept  = 2
	packetRefuse  = 4
	packetData    = 6
	packetMarker  = 12
	packetControl = 14
)

// Data of a marker packet (its third byte).
const (
	markerBreak = 1
	markerReset = 2
)

const (
	headerLen     = 8
	dataFlagsLen  = 2
	dataFlagEOF   = 0x40 // the client is about to close
	serverMarker  = 0x20 // packet flag on the markers that a server sends
	maxPacketLen  = 8 << 20
	maxLegacyData = 1 << 16
)

// packet is one Oracle Net packet without its header.
type packet struct {
	kind  byte
	flags byte
	body  []byte
}

// readPacket reads one packet. Lengths are two bytes wide up to ACCEPT, and four from then on when the
// agreed version is 315 or later (wide).
func readPacket(r io.Reader, wide bool) (packet, error) {
	var h [headerLen]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return packet{}, err
	}
	n, limit := uint32(binary.BigEndian.Uint16(h[:2])), uint32(maxLegacyData)
	if wide {
		n, limit = binary.BigEndian.Uint32(h[:4]), maxPacketLen
	}
	if n < headerLen || n > limit {
		return packet{}, fmt.Errorf("read packet: length %d outside %d..%d (header % x)", n, headerLen, limit, h)
	}
	body, err := readBody(r, int(n)-headerLen)
	return packet{kind: h[4], flags: h[5], body: body}, err
}

// readBody grows with what really arrives, so that a header that lies about its length costs no memory.
func readBody(r io.Reader, n int) ([]byte, error) {
	const trusted = 64 << 10
	body := make([]byte, min(n, trusted))
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, noEOF(err)
	}
	for len(body) < n {
		have := len(body)
		body = append(body, make([]byte, min(n-have, have))...)
		if _, err := io.ReadFull(r, body[have:]); err != nil {
			return nil, noEOF(err)
		}
	}
	return body, nil
}

func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendHeader appends the header of a packet whose body will be n bytes.
func appendHeader(b []byte, wide bool, kind, flags byte, n int) []byte {
	n += headerLen
	if wide {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	} else {
		b = binary.BigEndian.AppendUint16(b, uint16(n))
		b = append(b, 0, 0)
	}
	return append(b, kind, flags, 0, 0)
}

// isBreak says whether a marker asks the server to stop. A body that starts with 2 is ojdbc probing whether
// out-of-band data gets through; it means nothing.
func (p packet) isBreak() bool { return p.isMarker() && p.body[2] != markerReset }

func (p packet) isReset() bool { return p.isMarker() && p.body[2] == markerReset }

func (p packet) isMarker() bool {
	return p.kind == packetMarker && len(p.body) >= 3 && p.body[0] != 2
}
