package oracle

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testPassword = "Tiger/10 @:?#%한"

// script is a backend of canned answers, for what the adapter does between SQL and rows. The engine of orasim is
// under the conformance suite.
type script struct {
	mu       sync.Mutex
	answers  map[string]answer // by a part of the statement's text
	texts    []string          // statements as they came
	sessions int
	open     int
	most     int // sessions open at the same time
}

// answer is what a statement yields.
type answer struct {
	columns []ora.Column
	rows    [][]ora.Value
	endless bool // the last row is repeated for ever
	hold    bool // Execute waits for a break
	err     error
	held    chan struct{} // closed when Execute holds
}

var (
	textType   = ora.Type{Code: ora.Varchar2, Bytes: 400, Chars: 400, Form: ora.FormDatabase}
	numberType = ora.Type{Code: ora.Number, Scale: ora.ScaleFloating, Bytes: 22}
)

// texted is an answer of texts, of which "" is NULL.
func texted(rows ...[]string) answer {
	var a answer
	for i, row := range rows {
		var values []ora.Value
		for j, v := range row {
			if i == 0 {
				a.columns = append(a.columns, ora.Column{Name: fmt.Sprint("C", j), Type: textType, Nullable: true})
			}
			values = append(values, ora.Value(v))
		}
		a.rows = append(a.rows, values)
	}
	return a
}

// sequence is an answer of the numbers 1..n.
func sequence(n int) answer {
	a := answer{columns: []ora.Column{{Name: "N", Type: numberType}}}
	for i := range n {
		a.rows = append(a.rows, []ora.Value{ora.EncodeInt(int64(i + 1))})
	}
	return a
}

func newScript() *script {
	s := &script{answers: map[string]answer{}}
	s.set(selectIdentity, texted([]string{"1234567890", "SALES", "SALESPDB", "APP", "AMERICAN_AMERICA.AL32UTF8"}))
	return s
}

func (s *script) set(part string, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[part] = a
}

func (s *script) seen(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, t := range s.texts {
		if strings.Contains(t, part) {
			n++
		}
	}
	return n
}

func (s *script) Accepts(service string) bool { return strings.EqualFold(service, "sales") }
func (s *script) Password(user string) (string, bool) {
	return testPassword, user == "APP"
}
func (s *script) LoginFailed(string) {}
func (s *script) Connect(ora.Login) (ora.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions++
	s.open++
	s.most = max(s.most, s.open)
	return &scriptSession{s: s, id: uint32(s.sessions), done: make(chan struct{})}, nil
}

type scriptSession struct {
	s    *script
	id   uint32
	done chan struct{}
	once sync.Once
}

func (x *scriptSession) ID() (uint32, uint32)                      { return x.id, 1 }
func (x *scriptSession) Commit() error                             { return nil }
func (x *scriptSession) Rollback() error                           { return nil }
func (x *scriptSession) InTransaction() bool                       { return false }
func (x *scriptSession) SCN() uint64                               { return 7 }
func (x *scriptSession) SetEndToEnd(_, _, _, _ *string)            {}
func (x *scriptSession) SetCurrentSchema(string)                   {}
func (x *scriptSession) Done() <-chan struct{}                     { return x.done }
func (x *scriptSession) Prepare(sql string) (ora.Statement, error) { return x.prepare(sql) }
func (x *scriptSession) Close() {
	x.once.Do(func() {
		x.s.mu.Lock()
		defer x.s.mu.Unlock()
		x.s.open--
	})
}

func (x *scriptSession) prepare(sql string) (ora.Statement, error) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	x.s.texts = append(x.s.texts, sql)
	best, found := answer{}, ""
	for part, a := range x.s.answers {
		if strings.Contains(sql, part) && len(part) > len(found) {
			best, found = a, part
		}
	}
	kind := ora.KindSelect
	switch {
	case strings.HasPrefix(sql, "BEGIN"):
		kind = ora.KindPLSQL
	case !strings.HasPrefix(sql, "SELECT"):
		kind = ora.KindOther
	case found == "":
		return nil, ora.Errorf(942, "table or view does not exist")
	}
	if best.err != nil {
		return nil, best.err
	}
	return &scriptStatement{answer: best, kind: kind, binds: strings.Count(sql, ":")}, nil
}

type scriptStatement struct {
	answer
	kind  ora.Kind
	binds int
}

func (x *scriptStatement) Kind() ora.Kind        { return x.kind }
func (x *scriptStatement) Columns() []ora.Column { return x.columns }
func (x *scriptStatement) Binds() []string {
	var out []string
	for i := range x.binds {
		out = append(out, strconv.Itoa(i+1))
	}
	return out
}

func (x *scriptStatement) Execute(ctx context.Context, _ []ora.Bind) (ora.RowSource, int64, error) {
	if x.hold {
		close(x.held)
		<-ctx.Done()
		return nil, 0, ora.Errorf(1013, "user requested cancel of current operation")
	}
	if x.kind != ora.KindSelect {
		return nil, 0, nil
	}
	return &scriptRows{x: x}, 0, nil
}

type scriptRows struct {
	x *scriptStatement
	i int
}

func (r *scriptRows) Next(ctx context.Context) ([]ora.Value, error) {
	if err := ctx.Err(); err != nil {
		return nil, ora.Errorf(1013, "user requested cancel of current operation")
	}
	r.i++
	switch {
	case r.i <= len(r.x.rows):
		return r.x.rows[r.i-1], nil
	case r.x.endless:
		return r.x.rows[len(r.x.rows)-1], nil
	default:
		return nil, io.EOF
	}
}

func (r *scriptRows) Close() {}

// serve starts a server for one test and a source that is connected to it.
func serve(t *testing.T, s *script, change func(*Config)) (*Source, *wire.Server) {
	t.Helper()
	server, err := wire.Listen("127.0.0.1:0", wire.Config{Backend: s, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Host: "127.0.0.1", Port: server.Addr().(*net.TCPAddr).Port, Service: "SALES", User: "APP", MaxSessions: 2,
		Password: func() (string, error) { return testPassword, nil }}
	if change != nil {
		change(&cfg)
	}
	source, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return source, server
}

// numbers is a query over a table of one number.
func numbers() extract.Query {
	return extract.Query{Table: &extract.Table{Name: extract.TableName{Schema: "APP", Name: "NUMBERS"},
		Columns: []extract.Column{{Name: "N", Declared: "NUMBER(9)", Type: extract.Type{Kind: extract.Decimal, Precision: 9}}}}}
}

// readAll reads a slice to its end and returns the numbers.
func readAll(ctx context.Context, source extract.Source, q extract.Query, batchRows int) ([]int64, error) {
	r, err := source.Read(ctx, q, at("7"), extract.PlanSingle()[0])
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := extract.NewBatch(q.Table.Columns, batchRows, 0)
	var out []int64
	for {
		err := r.Next(ctx, b)
		if err == io.EOF {
			return out, r.Close()
		}
		if err != nil {
			return out, err
		}
		out = append(out, b.Cols[0].Int...)
	}
}
