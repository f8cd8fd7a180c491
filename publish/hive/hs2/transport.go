package hs2

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// SASL negotiation statuses, as in Thrift's TSaslTransport.
const (
	saslStart    = 1
	saslOK       = 2
	saslBad      = 3
	saslError    = 4
	saslComplete = 5
)

// Frames beyond these sizes are taken as something that is not HiveServer2 talking.
const (
	maxFrame = 256 << 20
	maxLogin = 64 << 10
)

// transport carries Thrift messages over a connection: as they are for NOSASL, in frames of a four-byte length
// otherwise. It implements thrift.TTransport; deadlines are the caller's.
type transport struct {
	conn   net.Conn
	in     *bufio.Reader
	framed bool
	left   uint32 // unread bytes of the current frame
	out    []byte
	closed bool
}

func newTransport(conn net.Conn, framed bool) *transport {
	return &transport{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), framed: framed}
}

// Read implements io.Reader.
func (t *transport) Read(p []byte) (int, error) {
	if !t.framed {
		return t.in.Read(p)
	}
	for t.left == 0 {
		n, err := t.length(maxFrame)
		if err != nil {
			return 0, err
		}
		t.left = n
	}
	if uint32(len(p)) > t.left {
		p = p[:t.left]
	}
	n, err := t.in.Read(p)
	t.left -= uint32(n)
	return n, err
}

func (t *transport) length(most uint32) (uint32, error) {
	var head [4]byte
	if _, err := io.ReadFull(t.in, head[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > most {
		return 0, fmt.Errorf("frame of %d bytes: this is not HiveServer2's binary transport", n)
	}
	return n, nil
}

// Write collects a message; Flush sends it.
func (t *transport) Write(p []byte) (int, error) {
	if len(t.out) == 0 && t.framed {
		t.out = append(t.out, 0, 0, 0, 0)
	}
	t.out = append(t.out, p...)
	return len(p), nil
}

// Flush implements thrift.TTransport.
func (t *transport) Flush(context.Context) error {
	if len(t.out) == 0 {
		return nil
	}
	if t.framed {
		binary.BigEndian.PutUint32(t.out, uint32(len(t.out)-4))
	}
	_, err := t.conn.Write(t.out)
	t.out = t.out[:0]
	return err
}

// Open implements thrift.TTransport; the connection is open from the start.
func (t *transport) Open() error { return nil }

// IsOpen implements thrift.TTransport.
func (t *transport) IsOpen() bool { return !t.closed }

// Close implements thrift.TTransport.
func (t *transport) Close() error {
	t.closed = true
	return t.conn.Close()
}

// RemainingBytes implements thrift.TTransport: unknown.
func (t *transport) RemainingBytes() uint64 { return ^uint64(0) }

// plain logs in by SASL PLAIN, which HiveServer2 uses for NONE, LDAP and CUSTOM alike. The error of a refusal
// carries the server's text, which does not hold the password.
func (t *transport) plain(user, password string) error {
	if err := t.send(saslStart, []byte("PLAIN")); err != nil {
		return err
	}
	if err := t.send(saslOK, []byte("\x00"+user+"\x00"+password)); err != nil {
		return err
	}
	status, text, err := t.receive()
	switch {
	case err != nil:
		return err
	case status == saslBad, status == saslError:
		return fmt.Errorf("%w: %s", ErrAuth, cutMessage(text))
	case status != saslComplete:
		return fmt.Errorf("login answered with SASL status %d", status)
	}
	return nil
}

func (t *transport) send(status byte, body []byte) error {
	msg := binary.BigEndian.AppendUint32([]byte{status}, uint32(len(body)))
	_, err := t.conn.Write(append(msg, body...))
	return err
}

func (t *transport) receive() (status byte, text string, err error) {
	if status, err = t.in.ReadByte(); err != nil {
		return 0, "", err
	}
	n, err := t.length(maxLogin)
	if err != nil {
		return 0, "", err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(t.in, body)
	return status, string(body), err
}
