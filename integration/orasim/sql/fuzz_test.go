package sql

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// FuzzParse feeds any text to the parser and, if it parses, to the compiler and executor: every end is a result
// or an ORA error, never ORA-00600.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`SELECT "SEQ", CASE WHEN "SEQ" >= 1 AND "SEQ" < 15001 THEN 0 ELSE -1 END AS P, COUNT(*) FROM "SYSTEM"."T" AS OF SCN 123 t WHERE ("D" >= DATE '2026-09-28') GROUP BY "SEQ"`,
		`WITH a AS (SELECT 1 x FROM DUAL) SELECT * FROM a, (SELECT 2 y FROM DUAL) b WHERE a.x < b.y(+) ORDER BY 1 NULLS FIRST`,
		`INSERT INTO t (seq) SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 3`, `UPDATE t SET v = DEFAULT WHERE seq IN (1, 2)`, `DELETE t`,
		`SELECT q'[it's]', N'x', :1, :"b", 1.5e3d, INTERVAL '1-2' YEAR TO MONTH, EXTRACT(DAY FROM SYSDATE), TRIM(BOTH 'x' FROM 'xax') FROM DUAL`,
		`SELECT TO_CHAR(123.45, '9,999.99'), TO_CHAR(SYSDATE, 'FMDay DDth'), SUBSTR('abc', -1, 99999999999), LPAD('x', 10, 'ab') FROM DUAL -- c`,
		`begin dbms_application_info.set_module(module_name => 'a', action_name => :1); end;`, `ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY' TIME_ZONE='+09:00'`,
		`CREATE TABLE x (a NUMBER(10,2) DEFAULT 1 NOT NULL, CONSTRAINT pk PRIMARY KEY (a))`, `GRANT SELECT, FLASHBACK ON t TO PUBLIC WITH GRANT OPTION`,
		`SELECT 1 FROM t WHERE a LIKE '%x\_' ESCAPE '\' AND NOT (b BETWEEN 1 AND 2 OR c IS NOT NULL)`, `((SELECT 1 FROM DUAL)) UNION ALL (SELECT 2 FROM DUAL)`,
		`CREATE TABLE x (k NUMBER GENERATED ALWAYS AS IDENTITY, a DATE, v AS (k * 2) VIRTUAL, h NUMBER INVISIBLE) PARTITION BY RANGE (a) SUBPARTITION BY HASH (k) SUBPARTITIONS 2 (PARTITION p VALUES LESS THAN (MAXVALUE))`,
		`CREATE TABLE x (a NUMBER NOT NULL, r VARCHAR2(3)) ORGANIZATION GENERATOR (ROWS 100 SEED 1)`, `CREATE TYPE o AS OBJECT (a NUMBER)`,
		`CREATE TABLE x (a NUMBER, r XMLTYPE) PARTITION BY LIST (a) (PARTITION p VALUES (1, NULL), PARTITION q VALUES (DEFAULT))`, `ALTER TABLE p TRUNCATE PARTITION p1`,
		`SELECT seq, NTILE(2) OVER (PARTITION BY v ORDER BY seq DESC), SUM(COUNT(*)) OVER () FROM p PARTITION (p1) SAMPLE BLOCK (50) SEED (1) WHERE ROWID > DBMS_ROWID.ROWID_CREATE(1, 70001, 4, 131, 0) GROUP BY seq, v`,
		`SELECT TIMESTAMP '2026-03-29 02:30:00 Europe/Berlin' AT TIME ZONE 'Asia/Seoul', INTERVAL '1 02' DAY TO HOUR * 3 FROM p WHERE seq BETWEEN 1 AND :1 OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY`,
		strings.Repeat("(", 400), `SELECT ` + strings.Repeat("-", 500) + `1 FROM DUAL`, `SELECT ` + strings.Repeat("NOT ", 500), `/*`, `'`, `"`, "\x00", "SELECT \xff FROM DUAL",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := New(Config{Now: func() time.Time { return time.Unix(1_790_000_000, 0) }})
		s, err := d.Open(ora.Login{User: "SYSTEM"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, setup := range []string{
			`CREATE TABLE t (seq NUMBER, v VARCHAR2(10) DEFAULT 'x', d DATE, a VARCHAR2(5), b NUMBER, c DATE)`,
			`CREATE TABLE p (seq NUMBER PRIMARY KEY, v VARCHAR2(10)) PARTITION BY RANGE (seq) (PARTITION p1 VALUES LESS THAN (10), PARTITION p2 VALUES LESS THAN (20))`,
			`INSERT INTO p SELECT LEVEL, 'v' || MOD(LEVEL, 3) FROM DUAL CONNECT BY LEVEL < 20`,
		} {
			if _, err := s.Run(context.Background(), setup); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := runAny(ctx, s, text); codeOf(t, err) == 600 {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// runAny executes a text with text binds and reads a few rows.
func runAny(ctx context.Context, s *Session, text string) error {
	st, err := s.Prepare(text)
	if err != nil {
		return err
	}
	binds := make([]ora.Bind, len(st.Binds()))
	for i := range binds {
		binds[i] = textBind("1")
	}
	cur, _, err := st.Execute(ctx, binds)
	if err != nil || cur == nil {
		return err
	}
	defer cur.Close()
	for range 100 {
		if _, err := cur.Next(ctx); err != nil {
			if e := (*ora.Error)(nil); errors.As(err, &e) {
				return e
			}
			return nil
		}
	}
	return nil
}
