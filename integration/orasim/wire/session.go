package wire

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// session serves one connection from PROTOCOL on. Only the session goroutine uses it.
type session struct {
	cfg     *Config
	conn    *conn
	secrets *secrets
	log     *slog.Logger
	wg      sync.WaitGroup // goroutines of this session

	dec decoder
	enc encoder

	login     ora.Login
	challenge *challenge
	knownUser bool

	sess        ora.Session // nil until logged in
	sid, serial uint32
	cursors     cursors
	lobs        lobs
	callNo      byte   // of the call that runs, as the client numbers them
	calls       uint16 // calls so far: the end-to-end sequence
	faults      []*Armed
}

func newSession(cfg *Config, c *conn, keep *secrets, login ora.Login, log *slog.Logger) *session {
	s := &session{cfg: cfg, conn: c, secrets: keep, login: login, log: log}
	s.dec.fill = c.piece
	s.cursors = cursors{byID: map[uint32]*cursor{}, limit: cfg.MaxCursors}
	return s
}

func (s *session) setCaps(c caps) { s.dec.caps, s.enc.caps = c, c }

// serve runs until the client leaves, is killed, or breaks the protocol.
func (s *session) serve() error {
	defer s.close()
	for {
		err := s.message()
		if errors.Is(err, errBreak) { // while idle, or inside a request
			err = s.refuse(cancelled(), outcome{})
		}
		if err != nil {
			return err
		}
	}
}

func (s *session) close() {
	close(s.conn.quit)
	s.cursors.closeAll()
	if s.sess != nil {
		s.sess.Close()
	}
	s.wg.Wait()
}

// message serves one message of the client.
func (s *session) message() error {
	s.enc.b, s.faults = s.enc.b[:0], nil
	code := s.dec.u8()
	if s.dec.err != nil {
		return s.dec.err
	}
	switch code {
	case msgProtocol:
		return s.protocol()
	case msgDataTypes:
		return s.dataTypes()
	case msgANO:
		return s.ano()
	case msgPiggyback:
		return s.piggyback()
	case msgFunction:
		return s.function()
	case msgFlushOutBinds:
		return nil
	}
	return fmt.Errorf("%w: unknown message %#x", errDecode, code)
}

// sequence reads the rest of a function's or piggyback's header.
func (s *session) sequence() byte {
	n := s.dec.u8()
	if s.dec.caps.fieldVersion >= version231p1 {
		s.dec.uint() // token
	}
	return n
}

func (s *session) function() error {
	code := s.dec.u8()
	s.callNo = s.sequence()
	if s.dec.err != nil {
		return s.dec.err
	}
	s.calls++
	ctx, end := s.conn.begin()
	defer end()
	if s.sess == nil {
		return s.beforeLogin(ctx, code)
	}
	select {
	case <-s.sess.Done(): // asked here too: the goroutine that watches it may come late
		return s.refuse(killed(), outcome{})
	default:
		return s.call(ctx, code)
	}
}

func (s *session) beforeLogin(ctx context.Context, code byte) error {
	switch code {
	case fnSessionKey:
		return s.sessionKey()
	case fnAuthenticate:
		return s.authenticate(ctx)
	}
	return fmt.Errorf("%w: function %#x before login", errDecode, code)
}

func (s *session) call(ctx context.Context, code byte) error {
	switch code {
	case fnExecute:
		return s.oall8(ctx)
	case fnFetch:
		return s.fetch(ctx)
	case fnReexecute, fnReexecuteFetch:
		return s.reexecute(ctx, code == fnReexecuteFetch)
	case fnCommit:
		return s.plain(ctx, "COMMIT", s.sess.Commit)
	case fnRollback:
		return s.plain(ctx, "ROLLBACK", s.sess.Rollback)
	case fnPing:
		return s.plain(ctx, "PING", nil)
	case fnLogoff:
		return s.plain(ctx, "LOGOFF", nil)
	case fnLOB:
		return s.lobOperation(ctx)
	case fnVersion:
		return s.version()
	}
	return fmt.Errorf("%w: unknown function %#x", errDecode, code)
}

// plain serves a function without arguments.
func (s *session) plain(ctx context.Context, name string, do func() error) error {
	if err := s.enter(name, true); err != nil {
		return s.fail(ctx, err, outcome{})
	}
	err := s.strike(ctx, 0, false)
	if err == nil && do != nil {
		err = do()
	}
	if err == nil {
		err = s.strike(ctx, 0, true)
	}
	if err != nil {
		return s.fail(ctx, err, outcome{})
	}
	return s.status()
}

// fail answers a call with an error. Errors that are not Oracle's end the session when the client is gone,
// and are ORA-00600 otherwise.
func (s *session) fail(ctx context.Context, err error, o outcome) error {
	cause := context.Cause(ctx)
	var oracle *ora.Error
	switch {
	case errors.Is(err, errCut) || errors.Is(err, errClosed):
		return err
	case errors.Is(cause, errClosed):
		return cause
	case errors.Is(cause, errKilled):
		oracle = killed()
	case errors.As(err, &oracle):
	case errors.Is(cause, errBreak):
		oracle = cancelled()
	default:
		s.log.Error("backend broke its contract", "err", err)
		oracle = ora.Errorf(600, "internal error code, arguments: [orasim], [%s]", err)
	}
	return s.refuse(oracle, o)
}

func cancelled() *ora.Error {
	return ora.Errorf(codeCancelled, "user requested cancel of current operation")
}

func killed() *ora.Error { return ora.Errorf(codeKilled, "your session has been killed") }

const (
	codeKilled    = 28
	codeCancelled = 1013
)

// breakDelay is the least time between a client's break and the answer, as a real network and a real server have it.
// The JDBC driver of 19c loses the markers, and waits for ever, when they come before its cancelling thread has
// returned from sending the break.
const breakDelay = 10 * time.Millisecond

// refuse drops what was to be sent and answers with an error, as 19c does: markers first, then the record.
func (s *session) refuse(e *ora.Error, o outcome) error {
	s.enc.b = s.enc.b[:0]
	if e.Code == codeCancelled && !s.conn.pause(breakDelay) {
		return s.conn.cause()
	}
	if err := s.conn.interrupt(); err != nil {
		return err
	}
	s.dec.reset()
	o.err = e
	s.endOfCall(o)
	if err := s.flush(); err != nil {
		return err
	}
	if e.Code == codeKilled {
		return errKilled
	}
	return nil
}

// ship sends the packets that are full.
func (s *session) ship() error {
	if len(s.enc.b) < s.conn.room() {
		return nil
	}
	rest, err := s.conn.send(s.enc.b, false)
	s.enc.b = s.enc.b[:copy(s.enc.b, rest)]
	return err
}

// flush sends all that is encoded.
func (s *session) flush() error {
	_, err := s.conn.send(s.enc.b, true)
	s.enc.b = s.enc.b[:0]
	return err
}

// dump is the client's newest bytes, for the log of a session that went wrong.
func (s *session) dump() string { return hex.EncodeToString(s.dec.last[:min(len(s.dec.last), 200)]) }
