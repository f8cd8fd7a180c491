package wire_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
	_ "github.com/sijms/go-ora/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(clientVariable) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := clientMain(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	user     = "APP"
	password = "Tiger-10"
	service  = "SALES"
)

// canned is a statement that the fake backend knows.
type canned struct {
	kind     ora.Kind
	columns  []ora.Column
	row      func(i int) ([]ora.Value, error) // io.EOF at the end
	affected func(binds []ora.Bind) (int64, error)
	hold     bool // Execute waits for a cancel
	outputs  func(binds []ora.Bind) []ora.Output
}

// fake is a backend of canned statements.
type fake struct {
	mu         sync.Mutex
	statements map[string]canned
	failed     []string // users with a wrong password
	log        []string // what sessions were asked to do
	sessions   []*fakeSession
	held       chan struct{} // a statement is being held
	nextSID    atomic.Uint32
}

func newFake() *fake {
	f := &fake{statements: map[string]canned{}, held: make(chan struct{}, 10)}
	now := ora.FromGo(time.Date(2026, 9, 28, 12, 0, 0, 0, time.UTC)).EncodeTZ(0)
	f.query("SELECT SYSTIMESTAMP FROM DUAL", []ora.Column{column("SYSTIMESTAMP", ora.Type{Code: ora.TimestampTZ, Scale: 6, Bytes: 13})}, []ora.Value{now})
	f.query("SELECT 1 FROM DUAL", []ora.Column{column("1", numberType)}, []ora.Value{ora.EncodeInt(1)})
	return f
}

var numberType = ora.Type{Code: ora.Number, Scale: ora.ScaleFloating, Bytes: 22}

func column(name string, t ora.Type) ora.Column {
	return ora.Column{Name: name, Type: t, Nullable: true}
}

func text(bytes uint32) ora.Type {
	return ora.Type{Code: ora.Varchar2, Bytes: bytes, Chars: bytes, Form: ora.FormDatabase}
}

func (f *fake) add(sql string, c canned) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statements[sql] = c
}

func (f *fake) query(sql string, cols []ora.Column, rows ...[]ora.Value) {
	f.add(sql, canned{kind: ora.KindSelect, columns: cols, row: func(i int) ([]ora.Value, error) {
		if i >= len(rows) {
			return nil, io.EOF
		}
		return rows[i], nil
	}})
}

// numbers is a query whose rows are 1..n with a constant text, so that rows can be compressed.
func (f *fake) numbers(sql string, n int) {
	f.add(sql, canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType), column("T", text(40))},
		row: func(i int) ([]ora.Value, error) {
			if i >= n {
				return nil, io.EOF
			}
			return []ora.Value{ora.EncodeInt(int64(i + 1)), ora.Value("same in every row")}, nil
		}})
}

func (f *fake) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = append(f.log, fmt.Sprintf(format, args...))
}

func (f *fake) noted(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []string
	for _, l := range f.log {
		if strings.HasPrefix(l, prefix) {
			out = append(out, l)
		}
	}
	return out
}

func (f *fake) Accepts(name string) bool { return strings.EqualFold(name, service) }

func (f *fake) Password(name string) (string, bool) { return password, name == user }

func (f *fake) LoginFailed(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, name)
}

func (f *fake) Connect(l ora.Login) (ora.Session, error) {
	s := &fakeSession{f: f, sid: f.nextSID.Add(1), done: make(chan struct{}), login: l}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions = append(f.sessions, s)
	return s, nil
}

func (f *fake) kill(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.sessions[i].done)
}

type fakeSession struct {
	f     *fake
	sid   uint32
	done  chan struct{}
	login ora.Login
	inTx  bool
}

func (s *fakeSession) ID() (uint32, uint32)  { return s.sid, 7 }
func (s *fakeSession) Commit() error         { s.inTx = false; s.f.note("commit"); return nil }
func (s *fakeSession) Rollback() error       { s.inTx = false; s.f.note("rollback"); return nil }
func (s *fakeSession) InTransaction() bool   { return s.inTx }
func (s *fakeSession) SCN() uint64           { return 0x1_0000_0001 }
func (s *fakeSession) Done() <-chan struct{} { return s.done }
func (s *fakeSession) Close()                { s.f.note("close %d", s.sid) }
func (s *fakeSession) SetCurrentSchema(name string) {
	s.f.note("schema %s", name)
}

func (s *fakeSession) SetEndToEnd(module, action, clientID, clientInfo *string) {
	for name, v := range map[string]*string{"module": module, "action": action, "client": clientID, "info": clientInfo} {
		if v != nil {
			s.f.note("%s %s", name, *v)
		}
	}
}

func (s *fakeSession) Prepare(sql string) (ora.Statement, error) {
	if strings.HasPrefix(sql, "ALTER SESSION") {
		s.f.note("%s", sql)
		return &fakeStatement{s: s, canned: canned{kind: ora.KindOther}}, nil
	}
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	c, ok := s.f.statements[sql]
	if !ok {
		return nil, &ora.Error{Code: 942, Text: "table or view does not exist", Pos: 14}
	}
	return &fakeStatement{s: s, canned: c}, nil
}

type fakeStatement struct {
	s *fakeSession
	canned
	binds []ora.Bind // of the last Execute
}

func (t *fakeStatement) Kind() ora.Kind        { return t.kind }
func (t *fakeStatement) Columns() []ora.Column { return t.columns }
func (t *fakeStatement) Binds() []string       { return nil }

func (t *fakeStatement) Execute(ctx context.Context, binds []ora.Bind) (ora.RowSource, int64, error) {
	if t.hold {
		t.s.f.held <- struct{}{}
		<-ctx.Done()
		return nil, 0, ora.Errorf(1013, "user requested cancel of current operation")
	}
	if t.kind == ora.KindSelect {
		return &fakeRows{t: t}, 0, nil
	}
	t.binds = binds
	t.s.inTx = t.kind != ora.KindOther && t.kind != ora.KindPLSQL
	if t.affected == nil {
		return nil, 0, nil
	}
	n, err := t.affected(binds)
	return nil, n, err
}

func (t *fakeStatement) Outputs() []ora.Output {
	if t.outputs == nil {
		return nil
	}
	return t.outputs(t.binds)
}

type fakeRows struct {
	t *fakeStatement
	i int
}

func (r *fakeRows) Next(context.Context) ([]ora.Value, error) {
	row, err := r.t.row(r.i)
	r.i++
	return row, err
}

func (r *fakeRows) Close() {}

// start starts a server for one test.
func start(t *testing.T, f *fake, change func(*wire.Config)) *wire.Server {
	t.Helper()
	cfg := wire.Config{Backend: f, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(&cfg)
	}
	s, err := wire.Listen("127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func dsn(s *wire.Server, pass, options string) string {
	return fmt.Sprintf("oracle://%s:%s@%s/%s?%s", user, url.QueryEscape(pass), s.Addr(), service, options)
}

// open connects go-ora to a server, with one connection.
func open(t *testing.T, s *wire.Server, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("oracle", dsn(s, password, options))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// count reads a query to its end.
func count(ctx context.Context, db *sql.DB, query string, args ...any) (n int, err error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}
