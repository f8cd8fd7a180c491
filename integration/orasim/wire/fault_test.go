package wire_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

const thousand = 1000

// faulty starts a server with a query of a thousand rows, an update of 5 rows, and a session logged in.
func faulty(t *testing.T, options string) (*fake, *wire.Server, *sql.Conn) {
	t.Helper()
	f := newFake()
	f.numbers("SELECT N FROM T", thousand)
	f.add("UPDATE T SET N = 1", canned{kind: ora.KindUpdate, affected: func([]ora.Bind) (int64, error) {
		f.note("updated")
		return 5, nil
	}})
	s := start(t, f, nil)
	return f, s, connect(t, s, options)
}

// connect logs in one session; a *sql.Conn is never retried on another.
func connect(t *testing.T, s *wire.Server, options string) *sql.Conn {
	t.Helper()
	conn, err := open(t, s, options).Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func countOn(conn *sql.Conn, query string) (n int, err error) {
	rows, err := conn.QueryContext(context.Background(), query)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		n++
	}
	return n, rows.Err()
}

func TestFaultErrorAtRow(t *testing.T) {
	_, s, conn := faulty(t, "PREFETCH_ROWS=10")
	a := s.Faults().Set(wire.Fault{
		Match: wire.Match{SQL: "from t"}, Kind: wire.FaultError, AtRow: 40, Code: 1555, Text: "snapshot too old", Skip: 1, Times: 2,
	})
	for round, want := range []int{thousand, 40, 40, thousand} {
		n, err := countOn(conn, "SELECT N FROM T")
		if n != want || (err != nil) != (want == 40) || err != nil && oraCode(err) != 1555 {
			t.Errorf("round %d: got %d rows and %v, want %d", round, n, err, want)
		}
		if n, err := countOn(conn, "SELECT 1 FROM DUAL"); n != 1 || err != nil {
			t.Errorf("round %d, another statement: got %d rows and %v", round, n, err)
		}
	}
	if a.Struck() != 2 {
		t.Errorf("struck %d times, want 2", a.Struck())
	}
}

func TestFaultErrorAtExecute(t *testing.T) {
	f, s, conn := faulty(t, "")
	s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "UPDATE"}, Kind: wire.FaultError, Code: 60, Times: 1})
	if _, err := conn.ExecContext(context.Background(), "UPDATE T SET N = 1"); oraCode(err) != 60 {
		t.Fatalf("got %v, want ORA-00060", err)
	}
	if n := len(f.noted("updated")); n != 0 {
		t.Errorf("the statement had its effect %d times", n)
	}
}

// TestSilentEarlyEnd shows what go-ora makes of a reply without rows and without ORA-01403: the end.
func TestSilentEarlyEnd(t *testing.T) {
	for _, rows := range []int64{0, 25, 37, thousand} {
		_, s, conn := faulty(t, "PREFETCH_ROWS=20")
		a := s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "FROM T"}, Kind: wire.FaultEarlyEnd, AtRow: rows, Times: 1})
		n, err := countOn(conn, "SELECT N FROM T")
		if n != int(rows) || err != nil {
			t.Errorf("early end at %d: got %d rows and %v, want that many and no error", rows, n, err)
		}
		if a.Struck() != 1 {
			t.Errorf("early end at %d: struck %d times", rows, a.Struck())
		}
		if n, err := countOn(conn, "SELECT N FROM T"); n != thousand || err != nil {
			t.Errorf("without the fault: got %d rows and %v", n, err)
		}
	}
}

func TestFaultsThatCutTheConnection(t *testing.T) {
	for name, kind := range map[string]wire.FaultKind{
		"close": wire.FaultClose, "reset": wire.FaultReset, "half packet": wire.FaultHalfPacket,
	} {
		for where, f := range map[string]wire.Fault{
			"at row 0": {}, "at row 500": {AtRow: 500}, "at the end": {AtRow: thousand}, "at byte 1": {AtByte: 1}, "at byte 3000": {AtByte: 3000},
		} {
			t.Run(name+" "+where, func(t *testing.T) {
				_, s, conn := faulty(t, "PREFETCH_ROWS=100")
				f.Kind, f.Match, f.Times = kind, wire.Match{SQL: "FROM T"}, 1
				a := s.Faults().Set(f)
				n, err := countOn(conn, "SELECT N FROM T")
				if err == nil || n > thousand {
					t.Errorf("got %d rows and no error", n)
				}
				if oraCode(err) != 0 && oraCode(err) != 3113 && oraCode(err) != 3135 {
					t.Errorf("got %v, want an error of the connection", err)
				}
				if a.Struck() != 1 {
					t.Errorf("struck %d times, want 1", a.Struck())
				}
				if n, err := countOn(connect(t, s, ""), "SELECT N FROM T"); n != thousand || err != nil {
					t.Errorf("a new session: got %d rows and %v", n, err)
				}
			})
		}
	}
}

func TestLateFaultLosesTheAnswerOnly(t *testing.T) {
	f, s, conn := faulty(t, "")
	ctx := context.Background()
	s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "COMMIT"}, Kind: wire.FaultClose, Late: true, Times: 1})
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE T SET N = 1"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("the commit was answered")
	}
	if n := len(f.noted("commit")); n != 1 {
		t.Errorf("the commit happened %d times, want 1", n)
	}
}

func TestFaultStall(t *testing.T) {
	_, s, conn := faulty(t, "PREFETCH_ROWS=100")
	a := s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "FROM T", User: user}, Kind: wire.FaultStall, AtRow: 300, Times: 1})
	done := make(chan error, 1)
	go func() {
		n, err := countOn(conn, "SELECT N FROM T")
		if err == nil && n != thousand {
			err = errors.New("rows are missing")
		}
		done <- err
	}()
	<-a.Hit()
	select {
	case err := <-done:
		t.Fatalf("the stalled query ended: %v", err)
	default:
	}
	a.Release()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestStalledServerCloses has a stalled call while the server is closed; Close must not wait for ever.
func TestStalledServerCloses(t *testing.T) {
	_, s, conn := faulty(t, "")
	a := s.Faults().Set(wire.Fault{Kind: wire.FaultStall})
	done := make(chan error, 1)
	go func() {
		_, err := countOn(conn, "SELECT N FROM T")
		done <- err
	}()
	<-a.Hit()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Fatal("a query on a closed server succeeded")
	}
}

func TestFaultRowCount(t *testing.T) {
	_, s, conn := faulty(t, "")
	s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "UPDATE"}, Kind: wire.FaultRowCount, Rows: 4, Times: 1})
	for _, want := range []int64{4, 5} {
		result, err := conn.ExecContext(context.Background(), "UPDATE T SET N = 1")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); n != want || err != nil {
			t.Errorf("got %d rows affected and %v, want %d", n, err, want)
		}
	}
}

func TestLatencyAndDrip(t *testing.T) {
	for name, f := range map[string]wire.Fault{
		"latency": {Kind: wire.FaultLatency, Delay: 20 * time.Millisecond},
		"drip":    {Kind: wire.FaultDrip, Chunk: 100, Delay: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			_, s, conn := faulty(t, "PREFETCH_ROWS=300")
			s.Faults().Set(f)
			from := time.Now()
			if n, err := countOn(conn, "SELECT N FROM T"); n != thousand || err != nil {
				t.Fatalf("got %d rows and %v", n, err)
			}
			if took := time.Since(from); took < 60*time.Millisecond {
				t.Errorf("took %v: the fault did nothing", took)
			}
			s.Faults().Clear()
		})
	}
}

func TestFaultLogin(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	for _, code := range []int{12519, 28000, 18} {
		s.Faults().Set(wire.Fault{Kind: wire.FaultLogin, Code: code, Times: 1})
		db := open(t, s, "")
		if err := db.Ping(); oraCode(err) != code {
			t.Errorf("got %v, want code %d", err, code)
		}
		if err := selectOne(db); err != nil {
			t.Errorf("after code %d: %v", code, err)
		}
	}
}

// TestFaultOfOneSession sets a fault for one of two sessions that run the same statement.
func TestFaultOfOneSession(t *testing.T) {
	f, s, first := faulty(t, "")
	second := connect(t, s, "")
	sid, _ := f.sessions[1].ID()
	s.Faults().Set(wire.Fault{Match: wire.Match{Session: sid}, Kind: wire.FaultError, Code: 8103})
	if n, err := countOn(first, "SELECT N FROM T"); n != thousand || err != nil {
		t.Errorf("the other session: got %d rows and %v", n, err)
	}
	if _, err := countOn(second, "SELECT N FROM T"); oraCode(err) != 8103 {
		t.Errorf("got %v, want ORA-08103", err)
	}
}

// TestFaultHoldAnswersABreak: the server says nothing until the client has had enough.
func TestFaultHoldAnswersABreak(t *testing.T) {
	f := newFake()
	f.numbers("SELECT N FROM T", 100)
	s := start(t, f, nil)
	a := s.Faults().Set(wire.Fault{Match: wire.Match{SQL: "FROM T"}, Kind: wire.FaultHold, AtRow: 5, Times: 1})
	stdin, wait := cancelClient{dsn: dsn(s, password, ""), query: "SELECT N FROM T", rounds: 1, rows: -1}.start(t)
	<-a.Hit()
	fmt.Fprintln(stdin)
	if got := wait(); got != "1" {
		t.Errorf("cancelled: got %s, want 1", got)
	}
	if n, err := count(t.Context(), open(t, s, ""), "SELECT N FROM T"); n != 100 || err != nil {
		t.Errorf("afterwards: got %d rows and %v, want 100", n, err)
	}
}
