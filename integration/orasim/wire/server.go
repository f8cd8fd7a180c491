package wire

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Config says what a server is like. Backend is required; the rest has defaults.
type Config struct {
	Backend  ora.Backend
	Faults   *Faults  // nil: none
	Instance string   // database and instance name; default ORASIM
	Verifier Verifier // default Verifier12c
	// FieldVersion is the TTC field version offered; default 12, that of 19c. Others are for tests of clients.
	FieldVersion int
	MaxSDU       int // largest session data unit agreed to; default 2 MiB
	MaxReplyRows int // fewer rows than asked in a reply; 0: as many as asked
	MaxCursors   int // open cursors a session; default 300
	// CommentFaults lets statements set faults on themselves, see comment.go.
	CommentFaults bool
	ANO           bool // let clients run the native network services exchange
	Log           *slog.Logger
}

func (c *Config) setDefaults() error {
	if c.Backend == nil {
		return errors.New("start server: no backend")
	}
	c.Instance = cmp.Or(c.Instance, "ORASIM")
	c.Verifier = cmp.Or(c.Verifier, Verifier12c)
	c.FieldVersion = cmp.Or(c.FieldVersion, version191)
	c.MaxSDU = cmp.Or(c.MaxSDU, 2<<20)
	c.MaxCursors = cmp.Or(c.MaxCursors, 300)
	if c.Faults == nil {
		c.Faults = &Faults{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Verifier != Verifier11g && c.Verifier != Verifier12c {
		return fmt.Errorf("start server: verifier %d is neither %d (11g) nor %d (12c)", c.Verifier, Verifier11g, Verifier12c)
	}
	return nil
}

// Server accepts connections until Close.
type Server struct {
	cfg      Config
	listener net.Listener
	secrets  secrets
	wg       sync.WaitGroup

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]struct{}
}

// Listen starts a server on a TCP address such as 127.0.0.1:0.
func Listen(address string, cfg Config) (*Server, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s := &Server{cfg: cfg, listener: l, open: map[net.Conn]struct{}{}}
	s.wg.Go(s.accept)
	return s, nil
}

// Addr is the address that clients connect to.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Faults is the set of faults that the server consults.
func (s *Server) Faults() *Faults { return s.cfg.Faults }

// Close stops listening, cuts all connections and waits until nothing of the server runs any more.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	for nc := range s.open {
		_ = nc.Close()
	}
	s.mu.Unlock()
	err := s.listener.Close()
	s.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil // closed before
	}
	return err
}

func (s *Server) accept() {
	for {
		nc, err := s.listener.Accept()
		if err != nil {
			return // Close, or the listener is gone for good
		}
		if !s.track(nc) {
			_ = nc.Close()
			return
		}
		s.wg.Go(func() {
			defer s.forget(nc)
			s.serve(nc)
		})
	}
}

func (s *Server) track(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open[nc] = struct{}{}
	return true
}

func (s *Server) forget(nc net.Conn) {
	_ = nc.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, nc)
}

// serve runs one connection to its end.
func (s *Server) serve(nc net.Conn) {
	log := s.cfg.Log.With("remote", nc.RemoteAddr().String())
	c := newConn(nc)
	service, err := s.handshake(c)
	if err != nil {
		log.Info("connection refused", "err", err)
		return
	}
	var reader sync.WaitGroup
	reader.Go(c.pump)
	sess := newSession(&s.cfg, c, &s.secrets, ora.Login{Service: service, Remote: nc.RemoteAddr().String()}, log)
	err = sess.serve()
	_ = nc.Close() // ends the reader
	reader.Wait()
	switch {
	case errors.Is(err, errDecode):
		sess.log.Error("protocol broken, session dropped", "err", err, "bytes", sess.dump())
	case errors.Is(err, errClosed):
		sess.log.Debug("session ended", "err", err)
	default:
		sess.log.Info("session ended", "err", err)
	}
}

// handshake runs CONNECT and ACCEPT, or REFUSE.
func (s *Server) handshake(c *conn) (service string, err error) {
	r, err := c.readConnect()
	if err != nil {
		return "", err
	}
	service, unknown := serviceOf(string(r.data))
	code := 0
	if e := s.cfg.Faults.login("", true); e != nil {
		code = e.Code
	} else if service == "" {
		code = errNoServiceName
	} else if !s.cfg.Backend.Accepts(service) {
		code = unknown
	}
	if code != 0 {
		return "", errors.Join(fmt.Errorf("refuse %q: code %d", service, code), c.refuse(code))
	}
	return service, c.accept(r, s.cfg.MaxSDU, s.cfg.ANO)
}
