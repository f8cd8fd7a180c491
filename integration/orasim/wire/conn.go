package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Why a call or a session stops early.
var (
	errBreak  = errors.New("break requested by the client")
	errKilled = errors.New("session killed")
	errClosed = errors.New("client closed the connection")
	errCut    = errors.New("connection cut by a fault")
)

const (
	sendBuffer = 64 << 10 // largest packet we send, whatever the client would take
	minSDU     = 512
)

// conn is one client connection after CONNECT. The reader goroutine owns reading; the session goroutine owns
// everything else but the fields under mu.
type conn struct {
	nc   net.Conn
	br   *bufio.Reader
	wide bool // packet lengths are four bytes
	sdu  int

	in   chan packet
	gone chan struct{} // closed when the reader ends
	quit chan struct{} // closed when the session ends

	mu     sync.Mutex
	breaks int                     // break markers in the channel `in`
	cancel context.CancelCauseFunc // of the call that runs
	dead   error                   // why no further call may run

	sent  int64  // bytes sent so far
	base  int64  // of these, when the newest statement was executed
	out   []byte // reused for packets
	pace  pace
	cutAt *cut
}

// pace slows sending down: chunk bytes, then a delay.
type pace struct {
	chunk int
	delay time.Duration
}

// cut ends the connection when `at` bytes have been sent in all.
type cut struct {
	at    int64
	fault *Armed
}

func newConn(nc net.Conn) *conn {
	return &conn{
		nc: nc, br: bufio.NewReaderSize(nc, 32<<10),
		in: make(chan packet, 16), gone: make(chan struct{}), quit: make(chan struct{}),
	}
}

// pump is the reader goroutine.
func (c *conn) pump() {
	defer close(c.gone)
	for {
		p, err := readPacket(c.br, c.wide)
		if err != nil {
			c.stop(fmt.Errorf("%w: %w", errClosed, err))
			return
		}
		if !c.wanted(p) {
			continue
		}
		if p.isBreak() {
			c.noteBreak()
		}
		select {
		case c.in <- p:
		case <-c.quit:
			return
		}
	}
}

func (c *conn) wanted(p packet) bool {
	return p.kind != packetControl && (p.kind != packetMarker || p.isMarker())
}

// noteBreak counts a break marker and cancels the call that runs, if any.
func (c *conn) noteBreak() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breaks++
	if c.cancel != nil {
		c.cancel(errBreak)
	}
}

// stop lets no further call run and cancels the one that does. The first cause stays.
func (c *conn) stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead == nil {
		c.dead = cause
	}
	if c.cancel != nil {
		c.cancel(c.dead)
	}
}

// begin opens a call: its context is cancelled by a break that is already waiting, by one that comes, by a
// kill, and by the loss of the client.
func (c *conn) begin() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
	switch {
	case c.dead != nil:
		cancel(c.dead)
	case c.breaks > 0:
		cancel(errBreak)
	}
	return ctx, c.end
}

func (c *conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel(nil)
	c.cancel = nil
}

// next takes the next packet that the reader found.
func (c *conn) next() (packet, error) {
	var p packet
	select {
	case p = <-c.in:
	default:
		select {
		case p = <-c.in:
		case <-c.gone:
			select { // what had arrived before the end still counts
			case p = <-c.in:
			default:
				return packet{}, c.cause()
			}
		}
	}
	if p.isBreak() {
		c.mu.Lock()
		c.breaks--
		c.mu.Unlock()
	}
	return p, nil
}

func (c *conn) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead == nil {
		return errClosed
	}
	return c.dead
}

// piece returns the TTC bytes of the next DATA packet, or errBreak.
func (c *conn) piece() ([]byte, error) {
	for {
		p, err := c.next()
		switch {
		case err != nil:
			return nil, err
		case p.isBreak():
			return nil, errBreak
		case p.isReset():
			continue // a stray one means nothing
		case p.kind != packetData || len(p.body) < dataFlagsLen:
			return nil, fmt.Errorf("%w: packet type %d of %d bytes", errDecode, p.kind, len(p.body))
		case binary.BigEndian.Uint16(p.body)&dataFlagEOF != 0:
			return nil, errClosed
		case len(p.body) > dataFlagsLen:
			return p.body[dataFlagsLen:], nil
		}
	}
}

// interrupt runs the server's side of the break and reset exchange: exactly two markers out (go-ora reads
// exactly one packet after its own reset), then everything from the client is dropped up to its reset.
func (c *conn) interrupt() error {
	var b []byte
	for _, data := range []byte{markerBreak, markerReset} {
		b = appendHeader(b, c.wide, packetMarker, serverMarker, 3)
		b = append(b, 1, 0, data)
	}
	if err := c.write(b); err != nil {
		return err
	}
	for {
		p, err := c.next()
		switch {
		case err != nil:
			return err
		case p.isReset():
			return nil
		case p.kind == packetData && len(p.body) >= dataFlagsLen && binary.BigEndian.Uint16(p.body)&dataFlagEOF != 0:
			return errClosed
		}
	}
}

// room is how many TTC bytes one packet takes.
func (c *conn) room() int { return min(c.sdu, sendBuffer) - headerLen - dataFlagsLen }

// send turns TTC bytes into DATA packets. Unless last, a rest that does not fill a packet is returned for the
// next time; it shares b's memory.
func (c *conn) send(b []byte, last bool) (rest []byte, err error) {
	c.out = c.out[:0]
	for len(b) >= c.room() || last && len(b) > 0 {
		n := min(len(b), c.room())
		c.out = appendHeader(c.out, c.wide, packetData, 0, n+dataFlagsLen)
		c.out = append(c.out, 0, 0)
		c.out = append(c.out, b[:n]...)
		b = b[n:]
	}
	return b, c.write(c.out)
}

// sendHalf sends a packet that ends in its middle.
func (c *conn) sendHalf(b []byte) error {
	if len(b) < 2 {
		b = []byte{0, 0}
	}
	c.out = appendHeader(c.out[:0], c.wide, packetData, 0, len(b)+dataFlagsLen)
	c.out = append(c.out, 0, 0)
	c.out = append(c.out, b[:len(b)/2]...)
	return c.write(c.out)
}

func (c *conn) sendPacket(kind byte, body []byte) error {
	return c.write(append(appendHeader(nil, c.wide, kind, 0, len(body)), body...))
}

// write sends bytes under the faults that hold for this connection.
func (c *conn) write(b []byte) error {
	cutting := c.cutAt != nil && c.sent+int64(len(b)) >= c.cutAt.at && c.cutAt.fault.fire()
	if cutting {
		b = b[:max(0, c.cutAt.at-c.sent)]
	}
	for len(b) > 0 {
		n := len(b)
		if c.pace.chunk > 0 {
			n = min(n, c.pace.chunk)
			if !c.pause(c.pace.delay) {
				return c.cause()
			}
		}
		if _, err := c.nc.Write(b[:n]); err != nil {
			return fmt.Errorf("%w: %w", errClosed, err)
		}
		c.sent += int64(n)
		b = b[n:]
	}
	if cutting {
		return c.sever(c.cutAt.fault.Kind)
	}
	return nil
}

// sever closes the socket, orderly or by a reset.
func (c *conn) sever(k FaultKind) error {
	if tcp, ok := c.nc.(*net.TCPConn); ok && k == FaultReset {
		_ = tcp.SetLinger(0) // makes Close send RST
	}
	_ = c.nc.Close()
	return errCut
}

// pause waits; false when the client went away first.
func (c *conn) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.gone:
		return false
	}
}
