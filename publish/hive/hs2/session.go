package hs2

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/beltran/gohive/hiveserver"
)

// closeTimeout bounds the clean-up after a statement or session was given up: the server answers when the
// query in it has stopped, which was seen to take ten seconds on a busy machine.
const closeTimeout = 30 * time.Second

// Session is one session of a server, on a connection of its own.
type Session struct {
	conn   *conn
	handle SessionHandle
}

// Open connects, logs in and opens a session.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	c, err := dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s, err := c.openSession(ctx)
	if err != nil {
		c.close()
		if c.cfg.Auth == NoSASL && errors.Is(err, ErrUnreachable) {
			return nil, loginError(c.cfg, err) // the first call is the first time that the server sees what we speak
		}
		return nil, err
	}
	return s, nil
}

func (c *conn) openSession(ctx context.Context) (*Session, error) {
	user, password := c.cfg.User, c.cfg.Password
	req := hiveserver.NewTOpenSessionReq()
	req.ClientProtocol = hiveserver.TProtocolVersion_HIVE_CLI_SERVICE_PROTOCOL_V10
	req.Username, req.Password = &user, &password
	var resp *hiveserver.TOpenSessionResp
	err := c.call(ctx, c.cfg.CallTimeout, "open session", func(ctx context.Context) (err error) {
		resp, err = c.client.OpenSession(ctx, req)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := check(PhaseSession, resp.GetStatus()); err != nil {
		return nil, fmt.Errorf("open session on HiveServer2 at %s as %q: %w", c.cfg.Address, c.cfg.User, err)
	}
	id := resp.GetSessionHandle().GetSessionId()
	if id == nil {
		return nil, fmt.Errorf("open session on HiveServer2 at %s: the answer has no handle", c.cfg.Address)
	}
	return &Session{conn: c, handle: SessionHandle{id: *id}}, nil
}

// Handle names the session.
func (s *Session) Handle() SessionHandle { return s.handle }

// Instance is the address of the server itself, as connected: never a name that may mean another one tomorrow.
func (s *Session) Instance() string { return s.conn.net.RemoteAddr().String() }

// Usable says whether every call so far got its answer.
func (s *Session) Usable() bool { return s.conn.ok() }

// Ping asks the server for its version.
func (s *Session) Ping(ctx context.Context) (version string, err error) {
	req := &hiveserver.TGetInfoReq{SessionHandle: s.handle.thrift(), InfoType: hiveserver.TGetInfoType_CLI_DBMS_VER}
	var resp *hiveserver.TGetInfoResp
	err = s.conn.call(ctx, s.conn.cfg.CallTimeout, "get info", func(ctx context.Context) (err error) {
		resp, err = s.conn.client.GetInfo(ctx, req)
		return err
	})
	if err != nil {
		return "", err
	}
	if err := check(PhaseSession, resp.GetStatus()); err != nil {
		return "", err
	}
	return resp.GetInfoValue().GetStringValue(), nil
}

// Close ends the session and with it whatever runs in it, through a new connection if this one is lost. It has
// a deadline of its own, so that it also works after ctx has ended; a call still out is waited for.
func (s *Session) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if !s.conn.ok() {
		cfg := s.conn.cfg
		cfg.Address = s.Instance()
		return CloseSession(ctx, cfg, s.handle)
	}
	defer s.conn.close()
	return s.conn.closeSession(ctx, s.handle)
}

// CloseSession ends a session of the server at cfg.Address, whoever opened it, and with it whatever runs in it.
// No error means that the server has closed it or does not know it: nothing more can be sent or done in it.
func CloseSession(ctx context.Context, cfg Config, h SessionHandle) error {
	c, err := dial(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.close()
	return c.closeSession(ctx, h)
}

func (c *conn) closeSession(ctx context.Context, h SessionHandle) error {
	var resp *hiveserver.TCloseSessionResp
	err := c.call(ctx, c.cfg.CallTimeout, "close session", func(ctx context.Context) (err error) {
		resp, err = c.client.CloseSession(ctx, &hiveserver.TCloseSessionReq{SessionHandle: h.thrift()})
		return err
	})
	if err != nil {
		return err
	}
	if err := sessionError(check(PhaseSession, resp.GetStatus())); err != nil && !errors.Is(err, ErrNoSession) {
		return fmt.Errorf("close session %s on HiveServer2 at %s: %w", h, c.cfg.Address, err)
	}
	return nil
}

// sessionError adds ErrNoSession to the answer for an unknown handle. HiveServer2 gives it no code of its own,
// only these texts (SessionManager.getSession and closeSession, Hive 2 to 4).
func sessionError(err error) error {
	var e *Error
	if errors.As(err, &e) && (strings.Contains(e.Message, "Invalid SessionHandle") || strings.Contains(e.Message, "Session does not exist")) {
		return fmt.Errorf("%w: %w", ErrNoSession, err)
	}
	return err
}
