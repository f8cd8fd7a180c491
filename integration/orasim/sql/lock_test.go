package sql

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// async runs a statement in the background and returns what it ended with.
func async(s *Session, text string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(context.Background(), text)
		done <- err
	}()
	return done
}

func TestRowLocks(t *testing.T) {
	d, a := open(t, Config{})
	b := login(t, d, "SYSTEM")
	run(t, a, `CREATE TABLE t (id NUMBER PRIMARY KEY, v NUMBER)`, `INSERT INTO t VALUES (1, 10)`, `INSERT INTO t VALUES (2, 20)`, `COMMIT`)
	run(t, a, `UPDATE t SET v = v + 1 WHERE id = 1`)
	if _, err := b.Run(context.Background(), `SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT`); codeOf(t, err) != 54 {
		t.Errorf("NOWAIT: got %v, want ORA-00054", err)
	}
	waiting := async(b, `UPDATE t SET v = v * 2 WHERE id = 1`)
	run(t, a, `COMMIT`)
	if err := <-waiting; err != nil {
		t.Fatal(err)
	}
	run(t, b, `COMMIT`)
	// The waiter started again on what the other had committed: (10+1)*2.
	if got := rowsOf(t, a, `SELECT v FROM t WHERE id = 1`); got != "22" {
		t.Errorf("lost update: got %s, want 22", got)
	}
	run(t, a, `SELECT v FROM t WHERE id = 2 FOR UPDATE`)
	if _, err := b.Run(context.Background(), `DELETE FROM t WHERE id = 1`); err != nil {
		t.Errorf("another row is not locked: %v", err)
	}
	if _, err := b.Run(context.Background(), `SELECT v FROM t FOR UPDATE NOWAIT`); codeOf(t, err) != 54 {
		t.Errorf("locked by FOR UPDATE: got %v, want ORA-00054", err)
	}
}

func TestKillEndsAWait(t *testing.T) {
	d, a := open(t, Config{})
	b := login(t, d, "SYSTEM")
	run(t, a, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t VALUES (1)`, `COMMIT`, `UPDATE t SET id = 2`)
	waiting := async(b, `UPDATE t SET id = 3`)
	if err := d.Kill(b.ID()); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; codeOf(t, err) != 28 {
		t.Errorf("got %v, want ORA-00028", err)
	}
	if _, err := a.Run(context.Background(), `SELECT id FROM t FOR UPDATE WAIT x`); codeOf(t, err) != 904 {
		t.Errorf("got %v, want ORA-00904", err)
	}
}

func TestDeadlock(t *testing.T) {
	d, a := open(t, Config{})
	b := login(t, d, "SYSTEM")
	run(t, a, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t VALUES (1)`, `INSERT INTO t VALUES (2)`, `COMMIT`)
	run(t, a, `DELETE FROM t WHERE id = 1`)
	run(t, b, `DELETE FROM t WHERE id = 2`)
	first := async(a, `DELETE FROM t WHERE id = 2`)
	second := async(b, `DELETE FROM t WHERE id = 1`)
	// Whoever closes the circle gets the error; when it rolls back the other goes on.
	select {
	case err := <-first:
		if codeOf(t, err) != 60 {
			t.Fatalf("got %v, want ORA-00060", err)
		}
		run(t, a, `ROLLBACK`)
		if err := <-second; err != nil {
			t.Error(err)
		}
	case err := <-second:
		if codeOf(t, err) != 60 {
			t.Fatalf("got %v, want ORA-00060", err)
		}
		run(t, b, `ROLLBACK`)
		if err := <-first; err != nil {
			t.Error(err)
		}
	}
}

func TestUniqueKeyWaits(t *testing.T) {
	for _, end := range []struct {
		how  string
		code int
	}{{`COMMIT`, 1}, {`ROLLBACK`, 0}} {
		d, a := open(t, Config{})
		b := login(t, d, "SYSTEM")
		run(t, a, `CREATE TABLE t (id NUMBER PRIMARY KEY)`, `INSERT INTO t VALUES (1)`)
		waiting := async(b, `INSERT INTO t VALUES (1)`)
		run(t, a, end.how)
		if err := <-waiting; codeOf(t, err) != end.code {
			t.Errorf("after %s: got %v, want ORA-%05d", end.how, err, end.code)
		}
	}
}

func TestTransactions(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER PRIMARY KEY)`, `INSERT INTO t VALUES (1)`, `SAVEPOINT a`, `INSERT INTO t VALUES (2)`, `ROLLBACK TO a`,
		`INSERT INTO t VALUES (3)`, `COMMIT`)
	if got := rowsOf(t, s, `SELECT id FROM t ORDER BY id`); got != "1\n3" {
		t.Errorf("savepoint: got %q", got)
	}
	// A statement that fails in the middle leaves nothing behind, and the transaction goes on.
	_, err := s.Run(context.Background(), `INSERT INTO t SELECT LEVEL + 3 - DECODE(LEVEL, 5, 7, 0) FROM DUAL CONNECT BY LEVEL <= 5`)
	if codeOf(t, err) != 1 {
		t.Fatalf("got %v, want ORA-00001", err)
	}
	run(t, s, `INSERT INTO t VALUES (4)`)
	if got := rowsOf(t, s, `SELECT id FROM t ORDER BY id`); got != "1\n3\n4" {
		t.Errorf("failed statement: got %q", got)
	}
	if !s.InTransaction() {
		t.Error("not in a transaction after a DML")
	}
	run(t, s, `ROLLBACK`, `INSERT INTO t VALUES (2)`, `DELETE FROM t WHERE id = 2`, `INSERT INTO t VALUES (2)`, `UPDATE t SET id = 4 - id WHERE id IN (1, 3)`, `COMMIT`)
	if got := rowsOf(t, s, `SELECT id FROM t ORDER BY id`); got != "1\n2\n3" {
		t.Errorf("keys swapped: got %q", got)
	}
	before := s.SCN()
	run(t, s, `COMMIT`, `ROLLBACK`, `UPDATE t SET id = id WHERE id = 77`, `COMMIT`)
	if s.SCN() != before {
		t.Errorf("a commit without changes moved the SCN from %d to %d", before, s.SCN())
	}
	s2 := login(t, d, "SYSTEM")
	run(t, s2, `INSERT INTO t VALUES (9)`)
	s2.Close()
	if got := rowsOf(t, s, `SELECT COUNT(*) FROM t`); got != "3" {
		t.Errorf("a closed session left its changes: %s rows", got)
	}
}

func TestPrivileges(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE USER app IDENTIFIED BY x`, `CREATE USER etl IDENTIFIED BY x`, `GRANT CREATE SESSION, CREATE TABLE TO app`,
		`CREATE TABLE app.t (id NUMBER)`, `CREATE VIEW app.v AS SELECT id FROM t`)
	if _, err := d.Connect(loginAs("ETL")); codeOf(t, err) != 1045 {
		t.Errorf("no CREATE SESSION: got %v", err)
	}
	run(t, s, `GRANT CREATE SESSION TO etl`)
	etl := login(t, d, "ETL")
	steps := []struct {
		grant, query string
		code         int
	}{
		{"", `SELECT * FROM app.t`, 942}, {`GRANT SELECT ON app.t TO etl`, `SELECT * FROM app.t`, 0},
		{"", `SELECT * FROM app.t AS OF SCN ` + fmt.Sprint(s.SCN()), 1031}, {`GRANT FLASHBACK ON app.t TO etl`, `SELECT * FROM app.t AS OF SCN ` + fmt.Sprint(s.SCN()), 0},
		{`REVOKE FLASHBACK ON app.t FROM etl`, `SELECT * FROM app.t AS OF SCN ` + fmt.Sprint(s.SCN()), 1031},
		{`GRANT FLASHBACK ANY TABLE TO etl`, `SELECT * FROM app.t AS OF SCN ` + fmt.Sprint(s.SCN()), 0},
		{"", `INSERT INTO app.t VALUES (1)`, 1031}, {"", `DROP TABLE app.t`, 1031}, {"", `CREATE TABLE x (a NUMBER)`, 1031},
		{"", `SELECT * FROM app.v`, 942}, {`GRANT SELECT ON app.v TO etl`, `SELECT * FROM app.v`, 0},
		{"", `SELECT current_scn FROM v$database`, 942}, {`GRANT SELECT ON v_$database TO etl`, `SELECT current_scn FROM v$database`, 0},
		{"", `SELECT * FROM v$session`, 942}, {`GRANT SELECT ANY DICTIONARY TO etl`, `SELECT * FROM v$session`, 0}, {"", `SELECT * FROM dba_tables`, 0},
		{"", `SELECT dbms_flashback.get_system_change_number FROM DUAL`, 904},
		{`GRANT EXECUTE ON dbms_flashback TO etl`, `SELECT dbms_flashback.get_system_change_number() FROM DUAL`, 0},
		{"", `SELECT SYS.DBMS_FLASHBACK.GET_SYSTEM_CHANGE_NUMBER FROM DUAL`, 0}, {"", `GRANT SELECT ON app.t TO PUBLIC`, 1031}, {"", `CREATE USER y IDENTIFIED BY z`, 1031},
	}
	for _, c := range steps {
		if c.grant != "" {
			run(t, s, c.grant)
		}
		_, err := etl.Run(context.Background(), c.query)
		if got := codeOf(t, errors.Unwrap(err)); got != c.code {
			t.Errorf("after %q, %s: got %v, want ORA-%05d", c.grant, c.query, err, c.code)
		}
	}
	if got, want := rowsOf(t, etl, `SELECT privilege FROM session_privs ORDER BY 1`), "CREATE SESSION\nFLASHBACK ANY TABLE\nSELECT ANY DICTIONARY"; got != want {
		t.Errorf("session_privs: got %q", got)
	}
	if got, want := rowsOf(t, etl, `SELECT table_name, privilege FROM user_tab_privs WHERE owner = 'APP' ORDER BY 1, 2`), "T|SELECT\nV|SELECT"; got != want {
		t.Errorf("user_tab_privs: got %q", got)
	}
}

func TestAccountLock(t *testing.T) {
	d, s := open(t, Config{MaxBadLogins: 3, MaxSessions: 2})
	run(t, s, `CREATE USER app IDENTIFIED BY "Mixed Case"`, `GRANT CONNECT TO app`)
	if got, ok := d.Password("APP"); !ok || got != "Mixed Case" {
		t.Errorf("password: got %q, %v", got, ok)
	}
	if _, ok := d.Password("NOBODY"); ok {
		t.Error("a user that does not exist has a password")
	}
	d.LoginFailed("NOBODY")
	for range 2 {
		d.LoginFailed("APP")
	}
	login(t, d, "APP").Close() // a good login starts the count again
	for range 3 {
		d.LoginFailed("APP")
	}
	if _, err := d.Connect(loginAs("APP")); codeOf(t, err) != 28000 {
		t.Errorf("locked: got %v", err)
	}
	run(t, s, `ALTER USER app ACCOUNT UNLOCK`)
	login(t, d, "APP")
	if _, err := d.Connect(loginAs("APP")); codeOf(t, err) != 18 {
		t.Errorf("too many sessions: got %v", err)
	}
	if !d.Accepts("orasimpdb1") || d.Accepts("other") {
		t.Error("Accepts is wrong")
	}
}
