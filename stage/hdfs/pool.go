package hdfs

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/colinmarc/hdfs/v2"
)

const (
	// maxIdle is how many clients wait for the next operation. Each asks the NameNode once a second to renew its
	// leases, so they are few.
	maxIdle = 4
	// heartbeat is how often the library makes an idle DataNode connection speak.
	heartbeat = 30 * time.Second
)

var errClosed = errors.New("the store is closed")

// pool hands out clients, each to one operation or open file at a time.
type pool struct {
	opt Options

	mu     sync.Mutex
	idle   []*client
	closed bool
	all    map[*client]bool // to be closed with the pool
}

func newPool(o Options) *pool { return &pool{opt: o, all: make(map[*client]bool)} }

// client is a connection to the NameNode, with the sockets that were opened for it.
type client struct {
	*hdfs.Client
	wires *wires
}

// get takes an idle client that is in order, or connects another one.
func (p *pool) get(ctx context.Context) (*client, error) {
	for {
		c, err := p.takeIdle()
		if err != nil {
			return nil, err
		}
		if c == nil {
			return p.connect(ctx)
		}
		if !c.wires.isBroken() {
			return c, nil
		}
		p.discard(c)
	}
}

func (p *pool) takeIdle() (*client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		return nil, nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c, nil
}

func (p *pool) connect(ctx context.Context) (*client, error) {
	c := &client{wires: newWires(p.opt.Timeout)}
	err := c.during(ctx, func() (err error) {
		c.Client, err = hdfs.NewClient(hdfs.ClientOptions{
			Addresses:           p.opt.NameNodes,
			User:                p.opt.User,
			UseDatanodeHostname: p.opt.UseDataNodeHostname,
			NamenodeDialFunc:    c.wires.dialNameNode,
			DatanodeDialFunc:    c.wires.dialDataNode,
		})
		return err
	})
	if c.Client == nil {
		c.wires.cut()
		return nil, err
	}
	p.mu.Lock()
	p.all[c] = true
	closed := p.closed
	p.mu.Unlock()
	if closed {
		err = errClosed
	}
	if err != nil {
		p.discard(c)
		return nil, err
	}
	return c, nil
}

// put gives a client back; one that is not in step with the NameNode is closed.
func (p *pool) put(c *client) {
	p.mu.Lock()
	keep := !p.closed && len(p.idle) < maxIdle && !c.wires.isBroken()
	if keep {
		p.idle = append(p.idle, c)
	}
	p.mu.Unlock()
	if !keep {
		p.discard(c)
	}
}

func (p *pool) discard(c *client) {
	p.mu.Lock()
	delete(p.all, c)
	p.mu.Unlock()
	c.wires.cut() // first: Close would wait for a call that hangs
	// Its only error is that the socket is closed, as it is.
	_ = c.Client.Close()
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	var all []*client
	for c := range p.all {
		all = append(all, c)
	}
	p.idle = nil
	p.mu.Unlock()
	for _, c := range all {
		p.discard(c)
	}
}

// during runs f, and cuts the client's sockets when ctx ends first. After an error that is not the NameNode's
// own answer the client is broken.
func (c *client) during(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, c.wires.cut)
	defer stop()
	err := f()
	if err != nil && !answered(err) {
		c.wires.setBroken()
	}
	return err
}

// answered tells an error that the NameNode, or the library before it asked, has answered with.
func answered(err error) bool {
	var remote hdfs.Error
	return errors.As(err, &remote) || errors.Is(err, errIsDirectory) ||
		errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// wires are the sockets of one client.
type wires struct {
	ctx     context.Context // ends with them
	end     context.CancelFunc
	timeout time.Duration

	mu     sync.Mutex
	open   map[*wire]bool
	broken bool
}

func newWires(timeout time.Duration) *wires {
	w := &wires{timeout: timeout, open: make(map[*wire]bool)}
	w.ctx, w.end = context.WithCancel(context.Background())
	return w
}

// dialNameNode is for the library, whose own context never ends.
func (w *wires) dialNameNode(_ context.Context, network, address string) (net.Conn, error) {
	return w.dial(network, address, w.timeout, true)
}

func (w *wires) dialDataNode(_ context.Context, network, address string) (net.Conn, error) {
	return w.dial(network, address, w.timeout+heartbeat, false)
}

func (w *wires) dial(network, address string, timeout time.Duration, nameNode bool) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: w.timeout}).DialContext(w.ctx, network, address)
	if err != nil {
		return nil, err
	}
	out := &wire{Conn: conn, of: w, timeout: timeout, nameNode: nameNode}
	w.mu.Lock()
	w.open[out] = true
	w.mu.Unlock()
	if w.ctx.Err() != nil { // cut meanwhile
		return nil, errors.Join(w.ctx.Err(), out.Close())
	}
	return out, nil
}

// cut closes all sockets and lets none be opened.
func (w *wires) cut() {
	w.end()
	w.mu.Lock()
	w.broken = true
	var open []*wire
	for o := range w.open {
		open = append(open, o)
	}
	w.mu.Unlock()
	for _, o := range open {
		_ = o.Close() // the call that uses it reports
	}
}

func (w *wires) setBroken() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = true
}

func (w *wires) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// wire is a socket on which every read and write has a deadline of its own.
type wire struct {
	net.Conn
	of       *wires
	timeout  time.Duration
	nameNode bool
}

func (c *wire) Read(p []byte) (int, error) {
	if err := c.Conn.SetReadDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, c.noted(err)
	}
	n, err := c.Conn.Read(p)
	return n, c.noted(err)
}

func (c *wire) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, c.noted(err)
	}
	n, err := c.Conn.Write(p)
	return n, c.noted(err)
}

// noted remembers a fault of the NameNode's connection: the renewal of leases, in the background, tells nobody.
func (c *wire) noted(err error) error {
	if err != nil && c.nameNode {
		c.of.setBroken()
	}
	return err
}

// SetDeadline and its kin do nothing: the library sets "never".
func (c *wire) SetDeadline(time.Time) error      { return nil }
func (c *wire) SetReadDeadline(time.Time) error  { return nil }
func (c *wire) SetWriteDeadline(time.Time) error { return nil }

func (c *wire) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
