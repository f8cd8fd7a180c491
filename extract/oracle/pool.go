package oracle

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// pool keeps the sessions of one database: never more than the limit, idle ones included, and none idle for long.
type pool struct {
	cfg   Config
	slots chan struct{} // one a session in use

	mu       sync.Mutex // guards the rest
	idle     []*session
	open     int // idle and in use
	closed   bool
	unmarked bool // the database refuses to mark sessions
	noDBID   bool // V$DATABASE is not visible
}

func newPool(cfg Config) *pool {
	return &pool{cfg: cfg, slots: make(chan struct{}, cfg.MaxSessions)}
}

// errWithout says that a session broke on something that it can do without, and that the next one will.
var errWithout = errors.New("the source refuses something that is not needed")

// errClosed is returned by a source after its Close.
var errClosed = errors.New("the source is closed")

// wanted is what a session must be.
type wanted struct {
	kind kind
	as   extract.Session
	id   extract.Identity // the database that must answer; empty for any
}

// take waits for a free slot and returns such a session. An idle one that turns out to be dead is replaced.
func (p *pool) take(ctx context.Context, w wanted) (*session, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a session at %s: %w", p.cfg, context.Cause(ctx))
	}
	for {
		s, reused, err := p.find(ctx, w)
		if err != nil {
			<-p.slots
			return nil, err
		}
		err = p.prepare(ctx, s, w)
		if err == nil {
			return s, nil
		}
		p.discard(s)
		if errors.Is(err, errWithout) || (reused && ctx.Err() == nil && !errors.Is(err, extract.ErrIdentity)) {
			continue // it died while idle: the next one is younger. Or the database refused what is not needed
		}
		<-p.slots
		return nil, err
	}
}

// find takes an idle session of this kind or opens one, closing an idle session of another kind where the limit
// would be passed.
func (p *pool) find(ctx context.Context, w wanted) (s *session, reused bool, err error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, false, errClosed
	}
	for i, s := range p.idle {
		if s.kind == w.kind && s.init == initKey(w.as.Init) && s.idle.Stop() {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.mu.Unlock()
			return s, true, nil
		}
	}
	var victim *session
	if p.open >= p.cfg.MaxSessions && len(p.idle) > 0 {
		victim, p.idle = p.idle[0], p.idle[1:]
		victim.idle.Stop()
		p.open--
	}
	p.open++
	p.mu.Unlock()
	if victim != nil {
		victim.close()
	}
	s, err = openSession(ctx, p.cfg, w.kind, w.as.Init)
	if err != nil {
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
	}
	return s, false, err
}

// prepare marks the session and checks which database it talks to. Both can do without what some databases refuse:
// the refusal is remembered, and the session, which is broken by it, is replaced.
func (p *pool) prepare(ctx context.Context, s *session, w wanted) error {
	p.mu.Lock()
	unmarked, noDBID := p.unmarked, p.noDBID
	p.mu.Unlock()
	if !unmarked {
		if err := s.mark(ctx, w.as); isORA(err, 6550, 904, 1031) {
			return p.without(&p.unmarked, "marks on sessions", err)
		} else if err != nil {
			return p.cfg.fault(ctx, "mark the session at "+p.cfg.String(), nil, err)
		}
	}
	got, err := s.identify(ctx, noDBID)
	if isORA(err, 942, 1031) && !noDBID {
		return p.without(&p.noDBID, "V$DATABASE, so clones that kept their parent's name are not told apart", err)
	}
	if err != nil {
		return p.cfg.fault(ctx, "identify the database at "+p.cfg.String(), nil, err)
	}
	if w.id != (extract.Identity{}) && !same(got, w.id) {
		return fmt.Errorf("connect to oracle %s: %w: %s, and the run was planned on %s; its SCN means nothing here",
			p.cfg, extract.ErrIdentity, identityText(got), identityText(w.id))
	}
	s.identity = got
	return nil
}

// without remembers what the database refuses.
func (p *pool) without(flag *bool, what string, err error) error {
	p.cfg.Log.Warn("the source refuses "+what, "source", p.cfg.String(), "err", err)
	p.mu.Lock()
	*flag = true
	p.mu.Unlock()
	return errWithout
}

// give returns a session to the pool, or throws it away when it is broken.
func (p *pool) give(s *session) {
	p.mu.Lock()
	if s.useless() || p.closed {
		p.mu.Unlock()
		p.discard(s)
		<-p.slots
		return
	}
	s.idle = time.AfterFunc(p.cfg.IdleTimeout, func() { p.expire(s) })
	p.idle = append(p.idle, s)
	p.mu.Unlock()
	<-p.slots
}

// expire closes a session that nobody has wanted.
func (p *pool) expire(s *session) {
	p.mu.Lock()
	found := false
	for i, other := range p.idle {
		if other == s {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			found = true
			break
		}
	}
	p.mu.Unlock()
	if found {
		p.discard(s)
	}
}

func (p *pool) discard(s *session) {
	s.close()
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
}

// close ends the idle sessions; those in use are ended when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, s := range idle {
		s.idle.Stop()
		p.discard(s)
	}
}
