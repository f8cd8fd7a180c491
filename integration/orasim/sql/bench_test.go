package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

const benchRows = 120_000

// inspection fills the table of the main scenario: benchRows rows of 10 columns.
func inspection(tb testing.TB) *Session {
	tb.Helper()
	d := New(Config{})
	s, err := d.Open(ora.Login{User: "SYSTEM"})
	if err != nil {
		tb.Fatal(err)
	}
	for _, text := range []string{
		`CREATE TABLE insp_dtl (seq NUMBER(10) PRIMARY KEY, insp_dt DATE, amount NUMBER(18,2), grade VARCHAR2(10), note VARCHAR2(400),
			created_at TIMESTAMP(6), a NUMBER, b CHAR(8), c VARCHAR2(40), d NUMBER(5))`,
		fmt.Sprintf(`INSERT INTO insp_dtl SELECT LEVEL, DATE '2026-09-28' + MOD(LEVEL, 2), LEVEL * 1.25, 'G' || MOD(LEVEL, 5), 'note ' || LEVEL,
			TIMESTAMP '2026-09-28 00:00:00' + NUMTODSINTERVAL(LEVEL, 'SECOND'), LEVEL / 3, 'b', RPAD('c', 20, 'x'), MOD(LEVEL, 1000)
			FROM DUAL CONNECT BY LEVEL <= %d`, benchRows),
		`COMMIT`,
	} {
		if _, err := s.Run(context.Background(), text); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

func drainCount(b *testing.B, s *Session, text string) int {
	st, err := s.Prepare(text)
	if err != nil {
		b.Fatal(err)
	}
	cur, _, err := st.Execute(context.Background(), nil)
	if err != nil {
		b.Fatal(err)
	}
	for n := 0; ; n++ {
		if _, err := cur.Next(context.Background()); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeed(b *testing.B) {
	for b.Loop() {
		inspection(b)
	}
}

func BenchmarkScan(b *testing.B) {
	s := inspection(b)
	text := fmt.Sprintf(`SELECT seq, insp_dt, amount, grade, note, created_at, a, b, c, d FROM insp_dtl AS OF SCN %d WHERE insp_dt >= DATE '2026-09-28' AND seq >= 1 AND seq < 200000`, s.SCN())
	b.ReportAllocs()
	for b.Loop() {
		if n := drainCount(b, s, text); n != benchRows {
			b.Fatalf("got %d rows", n)
		}
	}
}

func BenchmarkManifest(b *testing.B) {
	s := inspection(b)
	expr := "CASE"
	for i := range 8 {
		expr += fmt.Sprintf(` WHEN "SEQ" >= %d AND "SEQ" < %d THEN %d`, i*15000+1, (i+1)*15000+1, i)
	}
	expr += ` WHEN "SEQ" IS NULL THEN 8 ELSE -1 END`
	text := fmt.Sprintf(`SELECT %s AS P, COUNT(*), COUNT("AMOUNT"), SUM("AMOUNT"), MIN("INSP_DT") FROM "SYSTEM"."INSP_DTL" AS OF SCN %d
		WHERE ("INSP_DT" >= DATE '2026-09-28' AND "INSP_DT" < DATE '2026-09-30') GROUP BY %s`, expr, s.SCN(), expr)
	b.ReportAllocs()
	for b.Loop() {
		if n := drainCount(b, s, text); n != 8 {
			b.Fatalf("got %d groups", n)
		}
	}
}
