// Package proxy stands between a client and a HiveServer2 (Thrift in SASL frames, as all but NOSASL speak it), counts
// the publish statements that pass, and loses what a test tells it to lose: a request, an answer, either end of a
// connection. A rule may also hold a call for as long as it likes.
package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// Call is a remote call, shown to the rule twice: before its request is passed on, and before its answer is.
type Call struct {
	Conn     int    // number of the connection, from 1
	Method   string // such as ExecuteStatement
	Publish  bool   // its statement is an INSERT OVERWRITE
	Answered bool   // the server has answered
	Finished bool   // the answer says that an operation is FINISHED
}

// Fate is what becomes of a request or an answer.
type Fate int

// The fates.
const (
	Pass    Fate = iota
	Cut          // it is lost, and both ends of the connection are cut
	CutSent      // of a request: it reaches the server, and both ends are cut at once
	Lose         // the client's end is cut; the server's stays open: it gets the request, and does not learn that nobody listens
)

// Proxy is a listening proxy. Its methods are safe for concurrent use.
type Proxy struct {
	server   string
	listener net.Listener
	work     sync.WaitGroup

	mu         sync.Mutex // guards what follows
	rule       func(Call) Fate
	open       map[net.Conn]bool
	conns      int
	statements int
	closed     bool
}

// Listen starts a proxy on a free port of the loopback interface, before the server at an address.
func Listen(server string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	p := &Proxy{server: server, listener: l, open: map[net.Conn]bool{}}
	p.work.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Rule sets what decides about each call from now on; nil lets everything pass. It is called on the goroutine of the
// connection and may block, but not beyond Close.
func (p *Proxy) Rule(rule func(Call) Fate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// Statements is how many publish statements were passed on to the server.
func (p *Proxy) Statements() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.statements
}

// Close cuts everything and waits until nothing of the proxy runs.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	err := p.listener.Close()
	p.work.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.work.Go(func() { p.serve(client) })
	}
}

// keep remembers a connection, so that Close can cut it; false when it is too late for that.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.Close()
		return false
	}
	p.open[c] = true
	return true
}

func (p *Proxy) cut(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.open, c)
	c.Close()
}

// errLose ends a connection at the client's end only.
var errLose = errors.New("the client's end is cut")

func (p *Proxy) serve(client net.Conn) {
	if !p.keep(client) {
		return
	}
	defer p.cut(client)
	server, err := net.Dial("tcp", p.server)
	if err != nil || !p.keep(server) {
		return
	}
	p.mu.Lock()
	p.conns++
	n := p.conns
	p.mu.Unlock()
	l := &link{proxy: p, number: n, client: client, server: server}
	if err := l.carry(); errors.Is(err, errLose) {
		p.cut(client)
		_, _ = io.Copy(io.Discard, server) // what the server still has to say, until Close
	}
	p.cut(server)
}

// link is one connection through the proxy.
type link struct {
	proxy          *Proxy
	number         int
	client, server net.Conn
}

// carry passes the login, then call after call, until an end or a rule breaks it off.
func (l *link) carry() error {
	if err := l.login(); err != nil {
		return err
	}
	for {
		request, err := readFrame(l.client, 0)
		if err != nil {
			return err
		}
		if err := l.call(request); err != nil {
			return err
		}
	}
}

// SASL statuses that end a login, as in Thrift's TSaslTransport.
const (
	saslOK       = 2
	saslComplete = 5
)

// login passes what is said before the first frame: a status byte stands before each length.
func (l *link) login() error {
	for {
		message, err := readFrame(l.client, 1)
		if err != nil {
			return err
		}
		if _, err := l.server.Write(message); err != nil {
			return err
		}
		if message[0] != saslOK {
			continue // the choice of the mechanism, which HiveServer2 does not answer
		}
		answer, err := readFrame(l.server, 1)
		if err != nil {
			return err
		}
		if _, err := l.client.Write(answer); err != nil || answer[0] == saslComplete {
			return err
		}
	}
}

func (l *link) call(request []byte) error {
	c := Call{Conn: l.number, Method: method(request), Publish: bytes.Contains(request, []byte("INSERT OVERWRITE"))}
	fate := l.proxy.decide(c)
	if fate == Cut {
		return io.ErrClosedPipe
	}
	if c.Publish {
		l.proxy.mu.Lock()
		l.proxy.statements++
		l.proxy.mu.Unlock()
	}
	if _, err := l.server.Write(request); err != nil {
		return err
	}
	switch fate {
	case CutSent:
		return io.ErrClosedPipe
	case Lose:
		return errLose
	}
	answer, err := readFrame(l.server, 0)
	if err != nil {
		return err
	}
	c.Answered, c.Finished = true, bytes.Contains(answer, finished)
	switch l.proxy.decide(c) {
	case Lose:
		return errLose
	case Pass:
		_, err = l.client.Write(answer)
		return err
	}
	return io.ErrClosedPipe
}

func (p *Proxy) decide(c Call) Fate {
	p.mu.Lock()
	rule := p.rule
	p.mu.Unlock()
	if rule == nil {
		return Pass
	}
	return rule(c)
}

// finished is TGetOperationStatusResp.operationState (an i32, field 2) of the value FINISHED_STATE.
var finished = []byte{8, 0, 2, 0, 0, 0, 2}

// maxFrame bounds a message. What HiveServer2 and its clients say in tests is far smaller.
const maxFrame = 64 << 20

// readFrame reads a message with its head: some bytes, and the length of what follows.
func readFrame(r io.Reader, before int) ([]byte, error) {
	head := make([]byte, before+4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[before:])
	if n > maxFrame {
		return nil, fmt.Errorf("frame of %d bytes: not Thrift in SASL frames", n)
	}
	message := append(head, make([]byte, n)...)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

// method finds the name in a framed Thrift message of the binary protocol: length, version, length of the name, name.
func method(message []byte) string {
	const name = 12
	if len(message) < name {
		return ""
	}
	n := int(binary.BigEndian.Uint32(message[name-4:]))
	if n > len(message)-name {
		return ""
	}
	return string(message[name : name+n])
}
