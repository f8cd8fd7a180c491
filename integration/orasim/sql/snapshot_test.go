package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// query opens a cursor.
func query(t *testing.T, s *Session, text string) (ora.Statement, ora.RowSource) {
	t.Helper()
	st, err := s.Prepare(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	cur, _, err := st.Execute(context.Background(), nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return st, cur
}

// failure is the code with which a query fails, wherever it does.
func failure(t *testing.T, s *Session, text string) int {
	t.Helper()
	_, err := s.Query(context.Background(), text)
	return codeOf(t, err)
}

func TestAsOfSCN(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER, v VARCHAR2(10))`, `INSERT INTO t VALUES (1, 'a')`, `INSERT INTO t VALUES (2, 'b')`, `COMMIT`)
	first := s.SCN()
	run(t, s, `UPDATE t SET v = 'x' WHERE id = 1`, `DELETE FROM t WHERE id = 2`, `INSERT INTO t VALUES (3, 'c')`)
	at := func(scn uint64) string {
		return rowsOf(t, s, fmt.Sprintf(`SELECT id, v FROM "SYSTEM"."T" AS OF SCN %d q WHERE q.id > 0 ORDER BY id`, scn))
	}
	if got, want := at(first), "1|a\n2|b"; got != want {
		t.Errorf("uncommitted changes and AS OF: got %q, want %q", got, want)
	}
	if got, want := rowsOf(t, s, `SELECT id, v FROM t ORDER BY id`), "1|x\n3|c"; got != want {
		t.Errorf("own changes: got %q, want %q", got, want)
	}
	other := login(t, d, "SYSTEM")
	if got, want := rowsOf(t, other, `SELECT id, v FROM t ORDER BY id`), "1|a\n2|b"; got != want {
		t.Errorf("others' uncommitted changes: got %q, want %q", got, want)
	}
	run(t, s, `COMMIT`)
	second := s.SCN()
	if second <= first {
		t.Errorf("commit SCN %d is not after %d", second, first)
	}
	if got, want := at(first), "1|a\n2|b"; got != want {
		t.Errorf("AS OF first: got %q, want %q", got, want)
	}
	if got, want := at(second), "1|x\n3|c"; got != want {
		t.Errorf("AS OF second: got %q, want %q", got, want)
	}
	if got := failure(t, s, fmt.Sprintf(`SELECT * FROM t AS OF SCN %d`, second+1)); got != 8181 {
		t.Errorf("future SCN: got ORA-%05d", got)
	}
	run(t, s, `ALTER TABLE t ADD (w NUMBER DEFAULT 7)`)
	if got, want := rowsOf(t, s, `SELECT id, w FROM t ORDER BY id`), "1|7\n3|7"; got != want {
		t.Errorf("added column: got %q, want %q", got, want)
	}
	if got := failure(t, s, fmt.Sprintf(`SELECT id FROM t AS OF SCN %d`, second)); got != 1466 {
		t.Errorf("before DDL: got ORA-%05d", got)
	}
	if got := rowsOf(t, s, `SELECT COUNT(*) FROM t AS OF SCN (SELECT current_scn FROM v$database)`); got != "2" {
		t.Errorf("AS OF a subquery: got %q", got)
	}
}

func TestAsOfTimestamp(t *testing.T) {
	now := time.Date(2026, 9, 28, 1, 0, 0, 0, time.UTC)
	_, s := open(t, Config{Zone: 540, Now: func() time.Time { return now }})
	run(t, s, `CREATE TABLE t (id NUMBER)`)
	now = now.Add(time.Minute)
	run(t, s, `INSERT INTO t VALUES (1)`, `COMMIT`)
	scn := s.SCN()
	now = now.Add(time.Minute)
	run(t, s, `INSERT INTO t VALUES (2)`, `COMMIT`)
	if got := rowsOf(t, s, `SELECT COUNT(*) FROM t AS OF TIMESTAMP (SYSTIMESTAMP - INTERVAL '30' SECOND)`); got != "1" {
		t.Errorf("AS OF TIMESTAMP: got %s rows", got)
	}
	if got, want := rowsOf(t, s, `SELECT TIMESTAMP_TO_SCN(TIMESTAMP '2026-09-28 10:01:30') FROM DUAL`), fmt.Sprint(scn); got != want {
		t.Errorf("TIMESTAMP_TO_SCN: got %s, want %s", got, want)
	}
	if got, want := rowsOf(t, s, fmt.Sprintf(`SELECT SCN_TO_TIMESTAMP(%d) FROM DUAL`, scn)), "2026-09-28 10:01:00"; got != want {
		t.Errorf("SCN_TO_TIMESTAMP: got %s, want %s", got, want)
	}
	for text, code := range map[string]int{
		`SELECT * FROM t AS OF TIMESTAMP (SYSDATE + 1)`:           8186,
		`SELECT * FROM t AS OF TIMESTAMP (SYSDATE - 1)`:           8180,
		`SELECT SCN_TO_TIMESTAMP(1) FROM DUAL`:                    8181,
		`SELECT * FROM t AS OF TIMESTAMP (SYSDATE - 90/86400)`:    0, // 10:00:30, after the table was created
		fmt.Sprintf(`SELECT * FROM t AS OF SCN %d - 100000`, scn): 1466,
	} {
		if got := failure(t, s, text); got != code {
			t.Errorf("%s: got ORA-%05d, want ORA-%05d", text, got, code)
		}
	}
	if got := rowsOf(t, s, `SELECT TO_CHAR(SYSTIMESTAMP, 'YYYY-MM-DD HH24:MI:SS TZH:TZM') FROM DUAL`); got != "2026-09-28 10:02:00 +09:00" {
		t.Errorf("SYSTIMESTAMP: got %s", got)
	}
}

func TestStatementReadsAtItsStart(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 10`, `COMMIT`)
	st, cur := query(t, s, `SELECT id FROM t`)
	if _, err := cur.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	run(t, login(t, d, "SYSTEM"), `DELETE FROM t`, `INSERT INTO t VALUES (99)`, `COMMIT`)
	rest, err := drain(context.Background(), st, cur)
	if err != nil || len(rest) != 9 || rest[8][0] != "10" {
		t.Errorf("got %v, %v, want the 9 rows from before", rest, err)
	}
}

func TestSnapshotTooOld(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER, v NUMBER)`, `INSERT INTO t SELECT LEVEL, 0 FROM DUAL CONNECT BY LEVEL <= 100`, `COMMIT`)
	old := s.SCN()
	st, cur := query(t, s, `SELECT id FROM t`)
	run(t, s, `UPDATE t SET v = 1 WHERE id = 50`, `COMMIT`)
	changed := s.SCN()
	d.Store().ForgetUndoBefore(changed)
	rows, err := drain(context.Background(), st, cur)
	if codeOf(t, err) != 1555 || len(rows) != 49 {
		t.Errorf("mid-fetch: got %d rows, %v, want 49 and ORA-01555", len(rows), err)
	}
	if got := failure(t, s, fmt.Sprintf(`SELECT COUNT(*) FROM t AS OF SCN %d`, old)); got != 1555 {
		t.Errorf("aggregate at the old SCN: got ORA-%05d", got)
	}
	if got := rowsOf(t, s, fmt.Sprintf(`SELECT COUNT(*) FROM t AS OF SCN %d`, changed)); got != "100" {
		t.Errorf("at the floor: got %s rows", got)
	}
	if got := rowsOf(t, s, `SELECT COUNT(*) FROM t WHERE v = 1`); got != "1" {
		t.Errorf("now: got %s rows", got)
	}
}

func TestUndoRetention(t *testing.T) {
	now := time.Date(2026, 9, 28, 1, 0, 0, 0, time.UTC)
	_, s := open(t, Config{Now: func() time.Time { return now }, Store: store.Options{UndoRetention: time.Minute}})
	run(t, s, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t VALUES (1)`, `COMMIT`)
	scn := s.SCN()
	text := fmt.Sprintf(`SELECT id FROM t AS OF SCN %d`, scn)
	run(t, s, `UPDATE t SET id = 2`, `COMMIT`)
	now = now.Add(30 * time.Second)
	run(t, s, `UPDATE t SET id = 3`, `COMMIT`)
	if got := rowsOf(t, s, text); got != "1" {
		t.Errorf("within retention: got %q", got)
	}
	now = now.Add(45 * time.Second)
	run(t, s, `CREATE TABLE other (id NUMBER)`)
	if got := failure(t, s, text); got != 1555 {
		t.Errorf("after retention: got ORA-%05d", got)
	}
	_, s = open(t, Config{Store: store.Options{UndoCommits: 2}})
	run(t, s, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t VALUES (1)`, `COMMIT`)
	text = fmt.Sprintf(`SELECT id FROM t AS OF SCN %d`, s.SCN())
	run(t, s, `UPDATE t SET id = 2`, `COMMIT`, `UPDATE t SET id = 3`, `COMMIT`)
	if got := rowsOf(t, s, text); got != "1" {
		t.Errorf("within 2 commits: got %q", got)
	}
	run(t, s, `UPDATE t SET id = 4`, `COMMIT`)
	if got := failure(t, s, text); got != 1555 {
		t.Errorf("after 3 commits: got ORA-%05d", got)
	}
}

func TestObjectGoesUnderReader(t *testing.T) {
	for _, ddl := range []string{`TRUNCATE TABLE t`, `DROP TABLE t PURGE`} {
		d, s := open(t, Config{})
		run(t, s, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 10`, `COMMIT`)
		scn := s.SCN()
		st, cur := query(t, s, `SELECT id FROM t`)
		if _, err := cur.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		run(t, login(t, d, "SYSTEM"), ddl)
		if _, err := drain(context.Background(), st, cur); codeOf(t, err) != 8103 {
			t.Errorf("%s: got %v, want ORA-08103", ddl, err)
		}
		want := 1466
		if strings.HasPrefix(ddl, "DROP") {
			want = 942
		}
		if got := failure(t, s, fmt.Sprintf(`SELECT id FROM t AS OF SCN %d`, scn)); got != want {
			t.Errorf("%s, then AS OF: got ORA-%05d, want ORA-%05d", ddl, got, want)
		}
	}
}

func TestDDLWaitsForNobody(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t VALUES (1)`)
	other := login(t, d, "SYSTEM")
	_, err := other.Run(context.Background(), `TRUNCATE TABLE t`)
	if codeOf(t, err) != 54 {
		t.Errorf("truncate under a transaction: got %v, want ORA-00054", err)
	}
	run(t, s, `COMMIT`)
	run(t, other, `TRUNCATE TABLE t`)
}

// TestReadersUnderWriters drains AS OF SCN while others commit: what comes must be the journal's image.
func TestReadersUnderWriters(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER PRIMARY KEY, v NUMBER(10,2), note VARCHAR2(40), at TIMESTAMP(6))`,
		`INSERT INTO t SELECT LEVEL, MOD(LEVEL, 7) / 4, DECODE(MOD(LEVEL, 5), 0, NULL, 'n' || LEVEL), TIMESTAMP '2026-09-28 00:00:00' + NUMTODSINTERVAL(LEVEL, 'SECOND')
			FROM DUAL CONNECT BY LEVEL <= 2000`, `COMMIT`)
	stop := make(chan struct{})
	started := make(chan struct{}, 2)
	var writers sync.WaitGroup
	for w := range 2 {
		ses := login(t, d, "SYSTEM")
		writers.Add(1)
		go func() {
			defer writers.Done()
			writeUntil(t, ses, w, started, stop)
		}()
	}
	<-started
	<-started
	var readers sync.WaitGroup
	for range 2 {
		ses := login(t, d, "SYSTEM")
		readers.Add(1)
		go func() {
			defer readers.Done()
			for range 8 {
				compareWithJournal(t, d, ses)
			}
		}()
	}
	readers.Wait()
	close(stop)
	writers.Wait()
	if n := len(d.Store().Journal().Changes()); n < 2100 {
		t.Errorf("the writers made only %d changes", n)
	}
}

// writeUntil changes rows of its own until stopped; it signals after its first commit.
func writeUntil(t *testing.T, s *Session, w int, started chan<- struct{}, stop <-chan struct{}) {
	r := rand.New(rand.NewSource(int64(w)))
	ctx := context.Background()
	for n := 0; ; n++ {
		id := 2*(1+r.Intn(1000)) - w
		for _, text := range []string{
			fmt.Sprintf(`UPDATE t SET v = v + 1, note = note || 'u' WHERE id = %d AND LENGTH(note) < 30`, id),
			fmt.Sprintf(`DELETE FROM t WHERE id = %d`, 2*(1+r.Intn(1000))-w),
			fmt.Sprintf(`INSERT INTO t VALUES (%d, 0, NULL, NULL)`, 10_000+2*n+w),
			[]string{`COMMIT`, `COMMIT`, `ROLLBACK`}[r.Intn(3)],
		} {
			if _, err := s.Run(ctx, text); err != nil {
				t.Errorf("writer: %v", err)
				return
			}
		}
		if n == 3 {
			started <- struct{}{}
		}
		select {
		case <-stop:
			if n >= 3 {
				return
			}
		default:
		}
	}
}

func compareWithJournal(t *testing.T, d *Database, s *Session) {
	scn := s.SCN()
	text, err := s.Query(context.Background(), fmt.Sprintf(`SELECT id, v, note, at FROM t AS OF SCN %d`, scn))
	if err != nil {
		t.Errorf("read at %d: %v", scn, err)
		return
	}
	lines := make([]string, len(text))
	for i, row := range text {
		lines[i] = strings.Join(row, "|")
	}
	slices.Sort(lines)
	image, err := d.Store().Journal().Image(store.Name{Owner: "SYSTEM", Table: "T"}, scn)
	if err != nil {
		t.Error(err)
		return
	}
	want, err := image.Lines("ID", "V", "NOTE", "AT")
	if err != nil {
		t.Error(err)
		return
	}
	if !slices.Equal(lines, want) {
		t.Errorf("SCN %d: read %d rows, the journal has %d, or they differ", scn, len(lines), len(want))
	}
}

func TestCancelAndKill(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, `CREATE TABLE t (id NUMBER)`, `INSERT INTO t SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 1000`, `COMMIT`)
	_, cur := query(t, s, `SELECT a.id FROM t a, t b, t c`)
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := cur.Next(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	var err error
	for err == nil {
		_, err = cur.Next(ctx)
	}
	if codeOf(t, err) != 1013 {
		t.Errorf("after cancel: got %v, want ORA-01013", err)
	}
	other := login(t, d, "SYSTEM")
	sid, serial := other.ID()
	run(t, s, fmt.Sprintf(`ALTER SYSTEM KILL SESSION '%d,%d' IMMEDIATE`, sid, serial))
	<-other.Done()
	if got := failure(t, other, `SELECT 1 FROM DUAL`); got != 28 {
		t.Errorf("killed session: got ORA-%05d", got)
	}
	if got := rowsOf(t, s, fmt.Sprintf(`SELECT status FROM v$session WHERE sid = %d`, sid)); got != "KILLED" {
		t.Errorf("status: got %q", got)
	}
}

func TestCursorEnds(t *testing.T) {
	_, s := open(t, Config{})
	_, cur := query(t, s, `SELECT 1 FROM DUAL`)
	if _, err := cur.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := cur.Next(context.Background()); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want io.EOF", err)
		}
	}
	cur.Close()
	if _, err := cur.Next(context.Background()); codeOf(t, err) != 1001 {
		t.Errorf("closed: got %v", err)
	}
}
