package hs2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/apache/thrift/lib/go/thrift"
	"github.com/beltran/gohive/hiveserver"
)

// Auth is the value of hive.server2.authentication on the server.
type Auth string

// Authentications. None, LDAP and Custom are one mechanism (SASL PLAIN) on the wire.
const (
	None     Auth = "NONE"
	LDAP     Auth = "LDAP"
	Custom   Auth = "CUSTOM"
	NoSASL   Auth = "NOSASL"
	Kerberos Auth = "KERBEROS" // ErrUnsupported
)

// Config says how to reach one HiveServer2, in binary transport mode.
type Config struct {
	Address  string // host:port
	Auth     Auth   // default None
	User     string
	Password string

	ConnectTimeout time.Duration // of the connection and the login, default 10 s
	CallTimeout    time.Duration // of one answer, default 60 s; the server holds a poll for up to 5 s
	CompileTimeout time.Duration // of ExecuteStatement, which compiles, waits for the compile lock, and runs SET and DFS; default 10 min

	// Dial makes the connection; nil means net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c Config) withDefaults() Config {
	c.Auth = cmp.Or(c.Auth, None)
	c.ConnectTimeout = cmp.Or(c.ConnectTimeout, 10*time.Second)
	c.CallTimeout = cmp.Or(c.CallTimeout, 60*time.Second)
	c.CompileTimeout = cmp.Or(c.CompileTimeout, 10*time.Minute)
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c
}

// conn is one connection. mu is held during a call: Thrift's client knows one call at a time.
type conn struct {
	cfg    Config
	net    net.Conn
	client *hiveserver.TCLIServiceClient

	mu     sync.Mutex
	broken error // set once by the first call without an answer
}

// dial connects and logs in.
func dial(outer context.Context, cfg Config) (*conn, error) {
	cfg = cfg.withDefaults()
	switch cfg.Auth {
	case None, LDAP, Custom, NoSASL:
	default:
		return nil, fmt.Errorf("log in to HiveServer2 at %s by %s: %w: use NONE, LDAP, CUSTOM or NOSASL", cfg.Address, cfg.Auth, ErrUnsupported)
	}
	ctx, cancel := context.WithTimeout(outer, cfg.ConnectTimeout)
	defer cancel()
	nc, err := cfg.Dial(ctx, "tcp", cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("connect to HiveServer2 at %s: %w: %w: see that it runs and that this host may reach that port", cfg.Address, ErrUnreachable, err)
	}
	c := &conn{cfg: cfg, net: nc}
	t := newTransport(nc, cfg.Auth != NoSASL)
	if t.framed {
		if err := c.guard(ctx, cfg.ConnectTimeout, func() error { return t.plain(cfg.User, cfg.Password) }); err != nil {
			nc.Close()
			if outer.Err() != nil {
				return nil, fmt.Errorf("log in to HiveServer2 at %s: %w", cfg.Address, context.Cause(outer))
			}
			return nil, loginError(cfg, err)
		}
	}
	c.client = hiveserver.NewTCLIServiceClientFactory(t, thrift.NewTBinaryProtocolFactoryConf(&thrift.TConfiguration{MaxMessageSize: maxFrame}))
	return c, nil
}

func loginError(cfg Config, err error) error {
	if errors.Is(err, ErrAuth) {
		return fmt.Errorf("log in to HiveServer2 at %s as %q by %s: %w", cfg.Address, cfg.User, cfg.Auth, err)
	}
	hint := ""
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		hint = ": the server hung up; its hive.server2.authentication or transport mode may be another than " + string(cfg.Auth) + " in binary mode"
	}
	return fmt.Errorf("log in to HiveServer2 at %s: %w: %w%s", cfg.Address, ErrUnreachable, err, hint)
}

// call makes one remote call: f gets its answer, or the connection is broken for good.
func (c *conn) call(ctx context.Context, timeout time.Duration, name string, f func(ctx context.Context) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken != nil {
		return fmt.Errorf("%s on HiveServer2 at %s: %w: the connection was lost before: %w", name, c.cfg.Address, ErrUnreachable, c.broken)
	}
	if err := ctx.Err(); err != nil { // nothing was sent: the connection stays good
		return fmt.Errorf("%s on HiveServer2 at %s: %w", name, c.cfg.Address, context.Cause(ctx))
	}
	err := c.guard(ctx, timeout, func() error { return f(ctx) })
	if err == nil {
		return nil
	}
	var app thrift.TApplicationException
	if errors.As(err, &app) && app.TypeId() == thrift.UNKNOWN_METHOD { // an answer like any other
		return fmt.Errorf("%s on HiveServer2 at %s: %w: %w", name, c.cfg.Address, ErrUnsupported, err)
	}
	c.broken = err
	c.net.Close()
	if ctx.Err() != nil {
		return fmt.Errorf("%s on HiveServer2 at %s: broken off: %w", name, c.cfg.Address, context.Cause(ctx))
	}
	return fmt.Errorf("%s on HiveServer2 at %s: %w: %w", name, c.cfg.Address, ErrUnreachable, err)
}

// guard runs f under a deadline that ctx moves to now when it ends.
func (c *conn) guard(ctx context.Context, timeout time.Duration, f func() error) error {
	if err := c.net.SetDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { c.net.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() && err == nil { // the answer won the race, but the deadline may still be moved under a later call
		err = context.Cause(ctx)
	}
	return err
}

// ok says whether the connection can still be used.
func (c *conn) ok() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken == nil
}

func (c *conn) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = net.ErrClosed
		return c.net.Close()
	}
	return nil
}
