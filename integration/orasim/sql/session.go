package sql

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// Session is one logged-in session. It implements ora.Session.
type Session struct {
	db       *Database
	id       uint32
	serial   uint32
	login    ora.Login
	user     string
	loggedOn time.Time

	// Used only by the goroutine that runs the session.
	schema     string // CURRENT_SCHEMA
	nls        nls
	zone       zone // TIME_ZONE
	container  string
	tx         *store.Tx // nil between transactions
	savepoints []mark

	done     chan struct{}
	killOnce sync.Once

	mu     sync.Mutex // guards the rest, which V$SESSION shows to others
	client clientInfo
	active bool
}

// clientInfo is what a client says about itself.
type clientInfo struct{ module, action, id, info string }

// sessionTable is the sessions that are open.
type sessionTable struct {
	mu     sync.Mutex
	all    map[uint32]*Session
	serial uint32
}

// open makes a session with the lowest free sid.
func (t *sessionTable) open(d *Database, l ora.Login) (*Session, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[uint32]*Session{}
	}
	if len(t.all) >= d.cfg.MaxSessions {
		return nil, ora.Errorf(18, "maximum number of sessions exceeded")
	}
	id := uint32(1)
	for t.all[id] != nil {
		id++
	}
	t.serial++
	s := &Session{
		db: d, id: id, serial: t.serial, login: l, user: l.User, schema: l.User, loggedOn: d.cfg.Now(),
		nls: defaultNLS(), zone: zone{minutes: d.cfg.Zone}, container: d.cfg.Container,
		done: make(chan struct{}), client: clientInfo{module: l.Program},
	}
	t.all[id] = s
	return s, nil
}

// list returns the open sessions by sid.
func (t *sessionTable) list() []*Session {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]*Session, 0, len(t.all))
	for _, s := range t.all {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b *Session) int { return cmp.Compare(a.id, b.id) })
	return list
}

// Kill ends a session from outside, as ALTER SYSTEM KILL SESSION does; ORA-00030 when there is none.
func (d *Database) Kill(sid, serial uint32) error {
	for _, s := range d.sessions.list() {
		if s.id == sid && s.serial == serial {
			s.killOnce.Do(func() { close(s.done) })
			return nil
		}
	}
	return ora.Errorf(30, "User session ID does not exist.")
}

// ID returns the session's sid and serial number.
func (s *Session) ID() (sid, serial uint32) { return s.id, s.serial }

// SCN is the instance's current SCN.
func (s *Session) SCN() uint64 { return s.db.store.SCN() }

// Done is closed when the session has been killed.
func (s *Session) Done() <-chan struct{} { return s.done }

// InTransaction says whether the session has changed or locked anything since its last commit.
func (s *Session) InTransaction() bool { return s.tx != nil && !s.tx.Empty() }

// Commit ends the transaction and makes its changes visible.
func (s *Session) Commit() error {
	if tx := s.tx; tx != nil {
		s.tx, s.savepoints = nil, nil
		tx.Commit()
	}
	return nil
}

// Rollback ends the transaction and undoes its changes.
func (s *Session) Rollback() error {
	if tx := s.tx; tx != nil {
		s.tx, s.savepoints = nil, nil
		tx.Rollback()
	}
	return nil
}

// begin returns the session's transaction, starting one if needed.
func (s *Session) begin() *store.Tx {
	if s.tx == nil {
		s.tx = s.db.store.Begin(s.done)
	}
	return s.tx
}

// Close rolls back and ends the session. It may be called twice.
func (s *Session) Close() {
	s.Rollback()
	t := &s.db.sessions
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all[s.id] == s {
		delete(t.all, s.id)
	}
}

// SetCurrentSchema changes the schema of unqualified names.
func (s *Session) SetCurrentSchema(name string) { s.schema = name }

// SetEndToEnd records what the client says about itself; nil leaves a value as it is.
func (s *Session) SetEndToEnd(module, action, clientID, clientInfo *string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, set := range []struct{ to, from *string }{
		{&s.client.module, module}, {&s.client.action, action}, {&s.client.id, clientID}, {&s.client.info, clientInfo},
	} {
		if set.from != nil {
			*set.to = *set.from
		}
	}
}

func (s *Session) clientInfo() clientInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

func (s *Session) setActive(active bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = active
}

// status is V$SESSION.STATUS.
func (s *Session) status() string {
	select {
	case <-s.done:
		return "KILLED"
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active {
		return "ACTIVE"
	}
	return "INACTIVE"
}

// Prepare parses and compiles a statement.
func (s *Session) Prepare(text string) (stmt ora.Statement, err error) {
	defer catch(text, &err)
	st, err := parse(text)
	if err != nil {
		return nil, err
	}
	p := &Statement{ses: s, text: text, parsed: st}
	if err := p.compile(nil); err != nil {
		return nil, err
	}
	return p, nil
}

// catch turns a panic of the engine into ORA-00600, so that a bug of ours ends a statement and not a test run.
func catch(text string, err *error) {
	if r := recover(); r != nil {
		*err = ora.Errorf(600, "internal error code, arguments: [%v], statement: %s\n%s", r, text, debug.Stack())
	}
}

// Run executes a statement without binds and drains it; rows is what DML affected or a query returned. It is
// for seeds and tests.
func (s *Session) Run(ctx context.Context, text string) (rows int64, err error) {
	st, err := s.Prepare(text)
	if err != nil {
		return 0, fmt.Errorf("%w in %s", err, abbreviate(text))
	}
	cur, rows, err := st.Execute(ctx, nil)
	if err != nil {
		return 0, fmt.Errorf("%w in %s", err, abbreviate(text))
	}
	if cur == nil {
		return rows, nil
	}
	all, err := drain(ctx, st, cur)
	return int64(len(all)), err
}

// Query executes a query without binds and returns its rows as ora.Text shows them.
func (s *Session) Query(ctx context.Context, text string) ([][]string, error) {
	st, err := s.Prepare(text)
	if err != nil {
		return nil, err
	}
	cur, _, err := st.Execute(ctx, nil)
	if err != nil {
		return nil, err
	}
	if cur == nil {
		return nil, fmt.Errorf("query: %s is no query", abbreviate(text))
	}
	return drain(ctx, st, cur)
}

func abbreviate(text string) string {
	if r := []rune(text); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return text
}
