package oracle

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// link is the network connection that the driver reads and writes. The driver can neither cancel a fetch nor
// limit how long it waits, so both are done here: every read and write has a deadline of its own, and
// interrupt breaks off whatever is running.
type link struct {
	net.Conn
	patience atomic.Int64 // how long one read or write may take, in nanoseconds; 0 means for ever

	mu   sync.Mutex // guards what follows: interrupt comes from another goroutine
	long bool       // packets have a four-byte length; known from the server's ACCEPT
	seen bool       // that ACCEPT has been seen
	tail tail       // the end of the last reply
}

func (l *link) setPatience(d time.Duration) { l.patience.Store(int64(d)) }

func (l *link) deadline() time.Time {
	if d := time.Duration(l.patience.Load()); d > 0 {
		return time.Now().Add(d)
	}
	return time.Time{} // TCP keep-alive still finds a dead peer
}

func (l *link) Read(p []byte) (int, error) {
	if err := l.Conn.SetReadDeadline(l.deadline()); err != nil {
		return 0, err
	}
	n, err := l.Conn.Read(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accept(p[:n])
	l.tail.add(p[:n])
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	if err := l.Conn.SetWriteDeadline(l.deadline()); err != nil {
		return 0, err
	}
	l.mu.Lock()
	l.tail.reset()
	l.mu.Unlock()
	return l.Conn.Write(p)
}

// The driver clears deadlines before it reads. Ours stand.
func (l *link) SetDeadline(time.Time) error      { return nil }
func (l *link) SetReadDeadline(time.Time) error  { return nil }
func (l *link) SetWriteDeadline(time.Time) error { return nil }

const (
	packetAccept = 2
	// longLengths is the first version of the protocol whose packets have a four-byte length.
	longLengths = 315
)

// accept learns the packet format from the server's answer to the connect packet, which stands alone. Should it
// come in pieces it is not recognised, and interrupt can only close the connection.
func (l *link) accept(p []byte) {
	if l.seen || len(p) < 10 {
		return
	}
	if length := int(p[0])<<8 | int(p[1]); p[4] == packetAccept && length == len(p) {
		l.seen = true
		l.long = int(p[8])<<8|int(p[9]) >= longLengths
	}
}

// breakGrace is how long a broken-off statement may take to come back with ORA-01013 before the connection is
// closed without it. A server that only loses its client goes on computing until it next writes.
const breakGrace = 300 * time.Millisecond

// interrupt asks the server to break off what it is doing, and closes the connection soon after in any case.
func (l *link) interrupt() {
	l.mu.Lock()
	long, seen := l.long, l.seen
	l.mu.Unlock()
	if !seen {
		l.Close()
		return
	}
	marker := []byte{0, 11, 0, 0, 12, 0, 0, 0, 1, 0, 3}
	if long {
		marker[1], marker[3] = 0, 11
	}
	time.AfterFunc(breakGrace, func() { l.Close() })
	if err := l.Conn.SetWriteDeadline(time.Now().Add(breakGrace)); err == nil {
		// An error here means that there is nothing left to interrupt.
		_, _ = l.Conn.Write(marker)
	}
}

// endsWith says whether the end of the last reply holds text.
func (l *link) endsWith(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.tail.contains(text)
}

// dialer makes the links of one login. The driver dials again when a listener redirects it.
type dialer struct {
	ctx  context.Context // ends the login
	cfg  Config
	link *link
	stop func() bool
}

// DialContext is what the driver calls. Its context is not used: it never ends, because the driver's own
// reaction to the end of a context races with its reads.
func (d *dialer) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	d.release()
	conn, err := (&net.Dialer{}).DialContext(d.ctx, network, address)
	if err != nil {
		return nil, err
	}
	if d.cfg.TLS != nil {
		secure := tls.Client(conn, d.cfg.tlsFor())
		if err := secure.HandshakeContext(d.ctx); err != nil {
			conn.Close()
			return nil, err
		}
		conn = secure
	}
	d.link = &link{Conn: conn}
	d.link.setPatience(d.cfg.ConnectTimeout)
	link := d.link
	d.stop = context.AfterFunc(d.ctx, func() { link.Close() })
	return d.link, nil
}

// release lets go of the link that was dialled last: the end of the login's context no longer closes it.
func (d *dialer) release() {
	if d.stop != nil {
		d.stop()
	}
}

// tlsFor verifies the host that was asked for unless the configuration names another.
func (c Config) tlsFor() *tls.Config {
	t := c.TLS.Clone()
	if t.ServerName == "" {
		t.ServerName = c.Host
	}
	return t
}
