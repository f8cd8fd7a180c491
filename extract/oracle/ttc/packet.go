package ttc

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// Packet types of TNS.
const (
	packetConnect  = 1
	packetAccept   = 2
	packetRefuse   = 4
	packetRedirect = 5
	packetData     = 6
	packetResend   = 11
	packetMarker   = 12
	packetControl  = 14
)

// What a marker says.
const (
	markerReset     = 2
	markerInterrupt = 3
)

const (
	headerLen = 8
	flagsLen  = 2       // data flags, first in a DATA packet
	endOfFile = 0x40    // in the low byte of the data flags: the peer says goodbye
	wideFrom  = 315     // versions of TNS from here on have four-byte packet lengths
	maxPacket = 4 << 20 // above every SDU
	minSDU    = 512
	maxSDU    = 2 << 20 // what we ask for

	readBuffer   = 64 << 10
	writeTimeout = 30 * time.Second
)

// link is a connection that carries packets. One goroutine reads; interrupt may come from another.
type link struct {
	nc       net.Conn
	br       *bufio.Reader
	wide     bool          // four-byte lengths, from ACCEPT on
	sdu      int           // longest packet that may be sent, header included
	patience time.Duration // how long one read may wait; 0: for ever

	mu      sync.Mutex // guards ends and the order of deadlines
	ends    time.Time  // by when an interrupted call must be over; zero: nothing was interrupted
	writing sync.Mutex // one packet at a time
}

func newLink(nc net.Conn) *link {
	return &link{nc: nc, br: bufio.NewReaderSize(nc, readBuffer), sdu: minSDU}
}

// allowRead sets the deadline of the next read.
func (l *link) allowRead() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var at time.Time
	if l.patience > 0 {
		at = time.Now().Add(l.patience)
	}
	if !l.ends.IsZero() && (at.IsZero() || l.ends.Before(at)) {
		at = l.ends
	}
	return l.nc.SetReadDeadline(at)
}

func (l *link) allowWrite() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := time.Now().Add(writeTimeout)
	if !l.ends.IsZero() && l.ends.Before(at) {
		at = l.ends
	}
	return l.nc.SetWriteDeadline(at)
}

// interrupt asks the server to break off the running call, and gives it, and whatever is being read or written, so long
// to come to an end. Safe from any goroutine; a second one changes nothing.
func (l *link) interrupt(grace time.Duration) {
	l.mu.Lock()
	if !l.ends.IsZero() {
		l.mu.Unlock()
		return
	}
	l.ends = time.Now().Add(grace)
	// An error of either means that the connection is closed, which its reader sees.
	_ = l.nc.SetDeadline(l.ends)
	l.mu.Unlock()
	_ = l.write(packetMarker, []byte{1, 0, markerInterrupt})
}

func (l *link) interrupted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ends.IsZero()
}

// calm forgets an interrupt that has been answered.
func (l *link) calm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = time.Time{}
}

// header reads a packet's header and returns the length of its body.
func (l *link) header() (kind byte, body int, err error) {
	h, err := l.br.Peek(headerLen)
	if err != nil {
		return 0, 0, cut(err)
	}
	n := int(binary.BigEndian.Uint16(h))
	if l.wide {
		n = int(binary.BigEndian.Uint32(h))
	}
	kind = h[4]
	if n < headerLen || n > maxPacket {
		return 0, 0, fmt.Errorf("%w: a packet of %d bytes", ErrProtocol, n)
	}
	_, err = l.br.Discard(headerLen)
	return kind, n - headerLen, err
}

// cut makes an end of the stream in the middle of something what it is.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// whole reads a packet at once, as the first ones are.
func (l *link) whole() (kind byte, body []byte, err error) {
	if err := l.allowRead(); err != nil {
		return 0, nil, err
	}
	kind, n, err := l.header()
	if err != nil {
		return 0, nil, err
	}
	body = make([]byte, n)
	_, err = io.ReadFull(l.br, body)
	return kind, body, cut(err)
}

// marker reads the body of a marker packet.
func (l *link) marker(n int) (byte, error) {
	if n < 3 {
		return 0, fmt.Errorf("%w: a marker of %d bytes", ErrProtocol, n)
	}
	b, err := l.br.Peek(3)
	if err != nil {
		return 0, cut(err)
	}
	what := b[2]
	_, err = l.br.Discard(n)
	return what, cut(err)
}

// reset is the client's part after the server broke off a call, of which the marker's first part has been read: drop
// everything up to the server's reset, and answer it.
func (l *link) reset(what byte) error {
	for what != markerReset {
		kind, n, err := l.header()
		if err != nil {
			return err
		}
		if kind == packetMarker {
			what, err = l.marker(n)
		} else {
			_, err = l.br.Discard(n)
		}
		if err != nil {
			return cut(err)
		}
	}
	return l.write(packetMarker, []byte{1, 0, markerReset})
}

// write sends one packet.
func (l *link) write(kind byte, body []byte) error {
	return l.send(l.frame(make([]byte, headerLen, headerLen+len(body)), kind, body))
}

// frame completes a packet whose header is reserved at the start of p.
func (l *link) frame(p []byte, kind byte, body []byte) []byte {
	p = append(p, body...)
	clear(p[:headerLen])
	if l.wide {
		binary.BigEndian.PutUint32(p, uint32(len(p)))
	} else {
		binary.BigEndian.PutUint16(p, uint16(len(p)))
	}
	p[4] = kind
	return p
}

func (l *link) send(packet []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if err := l.allowWrite(); err != nil {
		return err
	}
	_, err := l.nc.Write(packet)
	return err
}

// data sends TTC bytes in as many DATA packets as they need.
func (l *link) data(ttc []byte) error {
	most := l.sdu - headerLen - flagsLen
	for {
		n := min(len(ttc), most)
		p := make([]byte, headerLen+flagsLen, headerLen+flagsLen+n)
		if err := l.send(l.frame(p, packetData, ttc[:n])); err != nil {
			return err
		}
		if ttc = ttc[n:]; len(ttc) == 0 {
			return nil
		}
	}
}
