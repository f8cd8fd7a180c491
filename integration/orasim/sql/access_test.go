package sql

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"
)

// TestIndexesChangeNothing runs the same changes on a table with indexes and on one without; then every query
// must find the same rows in both, at every SCN.
func TestIndexesChangeNothing(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE plain (id NUMBER(9), name VARCHAR2(20), at DATE, n NUMBER)",
		"CREATE TABLE keyed (id NUMBER(9), name VARCHAR2(20), at DATE, n NUMBER)",
		"CREATE INDEX keyed_name ON keyed (name, n)", "CREATE INDEX keyed_at ON keyed (at)", "CREATE INDEX keyed_id ON keyed (id)")
	r := rand.New(rand.NewSource(3))
	scns := []uint64{s.SCN()}
	for range 400 {
		text := randomChange(r)
		for _, table := range []string{"plain", "keyed"} {
			run(t, s, strings.ReplaceAll(text, "$T", table))
		}
		switch r.Intn(4) {
		case 0:
			run(t, s, "ROLLBACK")
		case 1:
			run(t, s, "COMMIT")
			scns = append(scns, s.SCN())
		}
		if r.Intn(5) == 0 {
			compareTables(t, s, randomPredicate(r), 0)
			compareTables(t, s, randomPredicate(r), scns[r.Intn(len(scns))])
		}
	}
}

func randomChange(r *rand.Rand) string {
	id, n := r.Intn(300), r.Intn(5)
	switch r.Intn(6) {
	case 0:
		return "DELETE FROM $T WHERE " + randomPredicate(r) + " AND MOD(id, 3) = 0"
	case 1:
		return fmt.Sprintf("UPDATE $T SET id = id + 1, at = at + 1 WHERE id = %d", id)
	case 2:
		return fmt.Sprintf("UPDATE $T SET name = 'n%d', n = NULL WHERE %s", n, randomPredicate(r))
	}
	return fmt.Sprintf("INSERT INTO $T SELECT %d + LEVEL, 'n' || MOD(LEVEL, 5), DATE '2026-01-01' + %d, DECODE(LEVEL, 2, NULL, %d) FROM DUAL CONNECT BY LEVEL <= 4",
		id, id%50, n)
}

func randomPredicate(r *rand.Rand) string {
	id := r.Intn(300)
	return []string{
		fmt.Sprintf("id = %d", id),
		fmt.Sprintf("id >= %d.5 AND id < %d", id, id+20),
		fmt.Sprintf("%d > id AND name = 'n1'", id),
		fmt.Sprintf("name = 'n%d' AND n BETWEEN 1 AND 3", r.Intn(6)),
		fmt.Sprintf("name = 'n2' AND n = %d", r.Intn(5)),
		"name > 'n3' AND id IS NOT NULL",
		"name = NULL",
		fmt.Sprintf("at BETWEEN DATE '2026-01-05' AND TIMESTAMP '2026-01-%02d 12:00:00'", 6+r.Intn(20)),
		fmt.Sprintf("at = TO_DATE('2026-01-%02d', 'YYYY-MM-DD')", 1+r.Intn(28)),
		fmt.Sprintf("id = '%d'", id),
	}[r.Intn(10)]
}

func compareTables(t *testing.T, s *Session, predicate string, scn uint64) {
	t.Helper()
	asOf := ""
	if scn > 0 {
		asOf = fmt.Sprintf(" AS OF SCN %d", scn)
	}
	var got [2]string
	for i, table := range []string{"plain", "keyed"} {
		list, err := s.Query(context.Background(), "SELECT * FROM "+table+asOf+" WHERE "+predicate)
		if err != nil {
			if codeOf(t, err) != 1466 { // the oldest SCNs are before the indexes
				t.Fatal(err)
			}
			return
		}
		got[i] = fmt.Sprint(list)
	}
	if got[0] != got[1] {
		t.Fatalf("%s%s: with indexes\n%s\nwithout\n%s", predicate, asOf, got[1], got[0])
	}
}

// TestRowidRangesFindTheirRows reads a table block by block.
func TestRowidRangesFindTheirRows(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE r (id NUMBER)", "INSERT INTO r SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 250", "COMMIT")
	ids, err := s.Query(context.Background(), "SELECT ROWIDTOCHAR(ROWID) FROM r")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to int
		want     string
	}{{0, 249, "250"}, {100, 199, "100"}, {7, 7, "1"}, {200, 100, "0"}} {
		got := rowsOf(t, s, fmt.Sprintf("SELECT COUNT(*) FROM r WHERE ROWID >= CHARTOROWID('%s') AND ROWID <= '%s'", ids[c.from][0], ids[c.to][0]))
		if got != c.want {
			t.Errorf("rows %d to %d: got %s, want %s", c.from, c.to, got, c.want)
		}
	}
	run(t, s, fmt.Sprintf("UPDATE r SET id = -1 WHERE ROWID = '%s'", ids[42][0]))
	if got := rowsOf(t, s, "SELECT COUNT(*) FROM r WHERE id = -1"); got != "1" {
		t.Errorf("updated by ROWID: got %s rows", got)
	}
}

// TestWritersByKeyBesideReaders moves amounts between rows by key while readers add them up: the sum never
// changes.
func TestWritersByKeyBesideReaders(t *testing.T) {
	d, s := open(t, Config{})
	run(t, s, "CREATE TABLE acc (id NUMBER PRIMARY KEY, amount NUMBER)",
		"INSERT INTO acc SELECT LEVEL, 100 FROM DUAL CONNECT BY LEVEL <= 50", "COMMIT")
	var wg sync.WaitGroup
	for w := range 3 {
		writer := login(t, d, "SYSTEM")
		wg.Go(func() {
			r := rand.New(rand.NewSource(int64(w)))
			for range 100 {
				a := 1 + r.Intn(49)
				b := a + 1 + r.Intn(50-a) // always upwards: no deadlock
				for _, text := range []string{
					fmt.Sprintf("UPDATE acc SET amount = amount - 1 WHERE id = %d", a),
					fmt.Sprintf("UPDATE acc SET amount = amount + 1 WHERE id = %d", b), "COMMIT",
				} {
					if _, err := writer.Run(context.Background(), text); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 100 {
		if got := rowsOf(t, s, "SELECT SUM(amount) FROM acc WHERE id BETWEEN 1 AND 50"); got != "5000" {
			t.Fatalf("the sum is %s", got)
		}
	}
	wg.Wait()
}

func BenchmarkUpdateByKey(b *testing.B) {
	s := inspection(b)
	for b.Loop() {
		if n, err := s.Run(context.Background(), "UPDATE insp_dtl SET amount = amount + 1 WHERE seq = 77777"); err != nil || n != 1 {
			b.Fatalf("%d rows, %v", n, err)
		}
	}
}
