package hs2

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// idleCheck is how long a session may lie unused before it is asked whether it still lives: one short round trip, and a
// server that was restarted since costs nobody a failed statement.
const idleCheck = time.Second

// ErrPoolClosed: the pool was closed.
var ErrPoolClosed = errors.New("pool of HiveServer2 sessions is closed")

// Pool keeps a few sessions for ordinary statements: opening one costs a login, and its first query an engine.
type Pool struct {
	cfg     Config
	prepare func(context.Context, *Session) error
	slots   chan struct{} // one taken for each session in use

	mu     sync.Mutex
	idle   []idleSession // the last one was used last
	closed bool
}

type idleSession struct {
	s     *Session
	since time.Time
}

// NewPool makes a pool of at most size sessions; prepare is called on each new one.
func NewPool(cfg Config, size int, prepare func(context.Context, *Session) error) *Pool {
	return &Pool{cfg: cfg, prepare: prepare, slots: make(chan struct{}, max(size, 1))}
}

// With lends a session to f. It goes back to the pool unless its connection was lost in f.
func (p *Pool) With(ctx context.Context, f func(*Session) error) error {
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return fmt.Errorf("wait for a HiveServer2 session: %w", context.Cause(ctx))
	}
	s, err := p.take(ctx)
	if err != nil {
		return err
	}
	err = f(s)
	if !s.Usable() || errors.Is(err, ErrNoSession) || !p.put(s) {
		s.Close(ctx) // best effort: the server drops it with the connection, or when it has been idle long enough
	}
	return err
}

// take finds a living session or opens one.
func (p *Pool) take(ctx context.Context) (*Session, error) {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return nil, ErrPoolClosed
		}
		n := len(p.idle)
		if n == 0 {
			p.mu.Unlock()
			return p.open(ctx)
		}
		last := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		if time.Since(last.since) < idleCheck {
			return last.s, nil
		}
		if _, err := last.s.Ping(ctx); err == nil {
			return last.s, nil
		}
		last.s.conn.close()
	}
}

func (p *Pool) open(ctx context.Context) (*Session, error) {
	s, err := Open(ctx, p.cfg)
	if err != nil {
		return nil, err
	}
	if p.prepare != nil {
		if err := p.prepare(ctx, s); err != nil {
			s.Close(ctx)
			return nil, err
		}
	}
	return s, nil
}

func (p *Pool) put(s *Session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.idle = append(p.idle, idleSession{s: s, since: time.Now()})
	return true
}

// Close ends the idle sessions; those in use end when they are given back.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	var errs []error
	for _, i := range idle {
		if err := i.s.Close(ctx); !errors.Is(err, ErrUnreachable) { // a server that is gone has no session either
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
