package wire_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/sijms/go-ora/v2/network"
)

// oraCode is the ORA number of an error, 0 if it has none.
func oraCode(err error) int {
	var e *network.OracleError
	if errors.As(err, &e) {
		return e.ErrCode
	}
	return 0
}

func TestBinds(t *testing.T) {
	f := newFake()
	var got []string
	f.add("UPDATE T", canned{kind: ora.KindUpdate, affected: func(binds []ora.Bind) (int64, error) {
		for _, b := range binds {
			got = append(got, fmt.Sprintf("%d:%s", b.Type.Code, ora.Text(b.Type, b.Value)))
		}
		return 3, nil
	}})
	db := open(t, start(t, f, nil), "")
	long := strings.Repeat("x", 300)
	at := time.Date(2026, 9, 28, 1, 2, 3, 0, time.UTC)
	result, err := db.Exec("UPDATE T", int64(71853075), "grade 가", nil, at, []byte{0, 0xFF}, long)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n != 3 || err != nil {
		t.Errorf("rows affected: got %d and error %v, want 3", n, err)
	}
	if len(got) != 6 {
		t.Fatalf("got %d binds, want 6: %q", len(got), got)
	}
	for i, want := range []string{"2:71853075", "1:grade 가", "1:", "181:2026-09-28", "23:", "1:" + long} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("bind %d: got %q, want %q", i, got[i], want)
		}
	}
	if got := f.noted("commit"); len(got) != 1 {
		t.Errorf("an Exec outside a transaction made %d commits, want 1", len(got))
	}
}

func TestArrayOfBinds(t *testing.T) {
	f := newFake()
	var got []string
	f.add("INSERT INTO T", canned{kind: ora.KindInsert, affected: func(binds []ora.Bind) (int64, error) {
		got = append(got, ora.Text(binds[0].Type, binds[0].Value)+" "+ora.Text(binds[1].Type, binds[1].Value))
		return 1, nil
	}})
	db := open(t, start(t, f, nil), "")
	result, err := db.Exec("INSERT INTO T", []int64{1, 2, 300}, []string{"a", "b", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n != 3 || err != nil {
		t.Errorf("rows affected: got %d and error %v, want 3", n, err)
	}
	if want := []string{"1 a", "2 b", "300 c"}; !slices.Equal(got, want) {
		t.Errorf("rows: got %q, want %q", got, want)
	}
	if err := selectOne(db); err != nil {
		t.Fatal(err)
	}
}

func TestTransactions(t *testing.T) {
	f := newFake()
	f.add("INSERT INTO T", canned{kind: ora.KindInsert, affected: func([]ora.Bind) (int64, error) { return 1, nil }})
	db := open(t, start(t, f, nil), "")
	for _, end := range []string{"commit", "rollback"} {
		tx, err := db.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO T"); err != nil {
			t.Fatal(err)
		}
		if end == "commit" {
			err = tx.Commit()
		} else {
			err = tx.Rollback()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := f.noted(end); len(got) != 1 {
			t.Errorf("%s: happened %d times", end, len(got))
		}
	}
}

func TestPLSQLWithInBinds(t *testing.T) {
	f := newFake()
	var got []string
	block := "BEGIN DBMS_APPLICATION_INFO.SET_MODULE(:1, :2); END;"
	f.add(block, canned{kind: ora.KindPLSQL, affected: func(binds []ora.Bind) (int64, error) {
		for _, b := range binds {
			got = append(got, ora.Text(b.Type, b.Value))
		}
		return 0, nil
	}})
	db := open(t, start(t, f, nil), "")
	if _, err := db.Exec(block, "loadctl", "INSP_DTL/2026-09-28"); err != nil {
		t.Fatal(err)
	}
	if want := []string{"loadctl", "INSP_DTL/2026-09-28"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := selectOne(db); err != nil {
		t.Fatal(err)
	}
}

func TestErrorsLeaveTheSessionUsable(t *testing.T) {
	f := newFake()
	f.add("UPDATE T", canned{kind: ora.KindUpdate, affected: func([]ora.Bind) (int64, error) {
		return 0, ora.Errorf(1031, "insufficient privileges")
	}})
	f.add("SELECT BROKEN", canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType)},
		row: func(i int) ([]ora.Value, error) {
			if i == 60 {
				return nil, ora.Errorf(1555, "snapshot too old")
			}
			return []ora.Value{ora.EncodeInt(int64(i))}, nil
		}})
	f.add("SELECT NARROW", canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType)},
		row: func(int) ([]ora.Value, error) { return nil, nil }})
	db := open(t, start(t, f, nil), "PREFETCH_ROWS=20")
	ctx := context.Background()
	for round := range 3 {
		if _, err := count(ctx, db, "SELECT * FROM NOSUCH"); oraCode(err) != 942 || !strings.Contains(err.Error(), "error occur at position: 14") {
			t.Fatalf("round %d, parse: got %v, want ORA-00942 at position 14", round, err)
		}
		if _, err := db.Exec("UPDATE T"); oraCode(err) != 1031 {
			t.Fatalf("round %d, execute: got %v, want ORA-01031", round, err)
		}
		if n, err := count(ctx, db, "SELECT BROKEN"); oraCode(err) != 1555 || n != 60 {
			t.Fatalf("round %d, fetch: got %d rows and %v, want 60 and ORA-01555", round, n, err)
		}
		if _, err := count(ctx, db, "SELECT NARROW"); oraCode(err) != 600 {
			t.Fatalf("round %d, broken backend: got %v, want ORA-00600", round, err)
		}
		if err := selectOne(db); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// TestLateErrorDropsItsBatch has an error in the middle of a reply: what the client has not been given in an
// earlier reply is lost, as with a real server.
func TestLateErrorDropsItsBatch(t *testing.T) {
	f := newFake()
	f.add("SELECT BROKEN", canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType)},
		row: func(i int) ([]ora.Value, error) {
			if i == 65 {
				return nil, ora.Errorf(8103, "object no longer exists")
			}
			return []ora.Value{ora.EncodeInt(int64(i))}, nil
		}})
	db := open(t, start(t, f, nil), "PREFETCH_ROWS=20")
	n, err := count(context.Background(), db, "SELECT BROKEN")
	if oraCode(err) != 8103 || n != 60 {
		t.Fatalf("got %d rows and %v, want 60 and ORA-08103", n, err)
	}
}

func TestUnsupportedColumnIsRefused(t *testing.T) {
	f := newFake()
	f.query("SELECT FILE", []ora.Column{column("DOC", ora.Type{Code: ora.Bfile, Bytes: 4000})})
	db := open(t, start(t, f, nil), "")
	if _, err := count(context.Background(), db, "SELECT FILE"); oraCode(err) != 3115 {
		t.Fatalf("got %v, want ORA-03115", err)
	}
	if err := selectOne(db); err != nil {
		t.Fatal(err)
	}
}

func TestKilledSession(t *testing.T) {
	f := newFake()
	f.add("SELECT HELD", canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType)}, hold: true})
	db := open(t, start(t, f, nil), "")
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	f.kill(0) // while idle
	if err := conn.PingContext(ctx); err == nil {
		t.Fatal("a killed session answered a ping")
	}
	_ = conn.Close()

	if conn, err = db.Conn(ctx); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		rows, err := conn.QueryContext(ctx, "SELECT HELD")
		if err == nil {
			err = rows.Close()
		}
		failed <- err
	}()
	<-f.held
	f.kill(1) // while a statement runs
	if err := <-failed; oraCode(err) != 28 && !errors.Is(err, driver.ErrBadConn) {
		t.Fatalf("got %v, want ORA-00028 or a bad connection", err)
	}
	_ = conn.Close()
	if err := selectOne(db); err != nil {
		t.Fatalf("a new session: %v", err)
	}
}

// TestCloseEndsRunningStatements closes the server while a statement runs, as a client that vanishes does.
func TestCloseEndsRunningStatements(t *testing.T) {
	f := newFake()
	f.add("SELECT HELD", canned{kind: ora.KindSelect, columns: []ora.Column{column("N", numberType)}, hold: true})
	s := start(t, f, nil)
	conn, err := open(t, s, "").Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	failed := make(chan error, 1)
	go func() {
		_, err := countOn(conn, "SELECT HELD")
		failed <- err
	}()
	<-f.held
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("the query succeeded")
	}
	if got := f.noted("close"); len(got) != 1 {
		t.Errorf("%d sessions were closed, want 1", len(got))
	}
}
