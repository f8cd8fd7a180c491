package sql

import (
	"context"
	"slices"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func textBind(s string) ora.Bind {
	return ora.Bind{Type: ora.Type{Code: ora.Varchar2, Form: ora.FormDatabase, Bytes: 4000}, Value: ora.Value(s)}
}

func numberBind(i int64) ora.Bind {
	return ora.Bind{Type: ora.Type{Code: ora.Number, Bytes: 22}, Value: ora.EncodeInt(i)}
}

func TestBinds(t *testing.T) {
	s := shop(t)
	scn := s.SCN()
	for _, c := range []struct {
		query string
		names []string
		binds []ora.Bind
		want  [][]string
	}{
		{`SELECT id FROM emp WHERE id = :1`, []string{"1"}, []ora.Bind{numberBind(2)}, [][]string{{"2"}}},
		{`SELECT id FROM emp WHERE id = :id AND name = :name`, []string{"ID", "NAME"}, []ora.Bind{textBind("2"), textBind("Bob")}, [][]string{{"2"}}},
		{`SELECT id FROM emp AS OF SCN :scn e WHERE e.id >= :lo AND e.id < :hi`, []string{"SCN", "LO", "HI"}, []ora.Bind{numberBind(int64(scn)), numberBind(1), numberBind(2)}, [][]string{{"1"}}},
		{`SELECT id FROM emp AS OF SCN :1 WHERE hired = TO_DATE(:2, 'YYYY-MM-DD')`, []string{"1", "2"}, []ora.Bind{textBind(ora.NumFromInt(int64(scn)).String()), textBind("2026-02-01")}, [][]string{{"2"}}},
		{`SELECT :a || :a FROM DUAL`, []string{"A", "A"}, []ora.Bind{textBind("x"), textBind("x")}, [][]string{{"xx"}}},
		{`SELECT id FROM emp WHERE code = :c`, []string{"C"}, []ora.Bind{textBind("a")}, nil}, // a VARCHAR2 bind is not padded
		{`SELECT id FROM emp WHERE name = :n`, []string{"N"}, []ora.Bind{textBind("")}, nil},  // '' is NULL
		{`SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= :n`, []string{"N"}, []ora.Bind{numberBind(2)}, [][]string{{"1"}, {"2"}}},
	} {
		st, err := s.Prepare(c.query)
		if err != nil {
			t.Fatalf("%s: %v", c.query, err)
		}
		if !slices.Equal(st.Binds(), c.names) {
			t.Errorf("%s: got binds %q", c.query, st.Binds())
		}
		for range 2 { // the second time it is not compiled again
			cur, _, err := st.Execute(context.Background(), c.binds)
			if err != nil {
				t.Fatalf("%s: %v", c.query, err)
			}
			got, err := drain(context.Background(), st, cur)
			if err != nil || !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("%s: got %v, %v, want %v", c.query, got, err, c.want)
			}
		}
	}
	st, err := s.Prepare(`SELECT :1 FROM DUAL`)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := st.Execute(context.Background(), nil); codeOf(t, err) != 1008 {
		t.Errorf("no binds: got %v, want ORA-01008", err)
	}
	if _, _, err := st.Execute(context.Background(), []ora.Bind{numberBind(1)}); err != nil || st.Columns()[0].Type.Code != ora.Number {
		t.Errorf("described as %v after a NUMBER bind, %v", st.Columns()[0].Type, err)
	}
}

func TestInsertWithBinds(t *testing.T) {
	s := shop(t)
	st, err := s.Prepare(`INSERT INTO emp (id, name, hired) VALUES (:1, :2, :3)`)
	if err != nil {
		t.Fatal(err)
	}
	day := ora.Bind{Type: ora.Type{Code: ora.Date, Bytes: 7}, Value: ora.Time{Year: 2026, Month: 9, Day: 28}.EncodeDate()}
	for i := range 3 {
		if _, n, err := st.Execute(context.Background(), []ora.Bind{numberBind(int64(100 + i)), textBind("n"), day}); err != nil || n != 1 {
			t.Fatalf("got %d rows, %v", n, err)
		}
	}
	if got := rowsOf(t, s, `SELECT COUNT(*), MAX(hired) FROM emp WHERE id >= 100`); got != "3|2026-09-28 00:00:00" {
		t.Errorf("got %s", got)
	}
}

func TestStatementOutlivesDDL(t *testing.T) {
	s := shop(t)
	st, err := s.Prepare(`SELECT * FROM dept ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	run(t, s, `ALTER TABLE dept ADD (city VARCHAR2(10) DEFAULT 'x')`)
	cur, _, err := st.Execute(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := drain(context.Background(), st, cur); err != nil || len(got) != 3 || len(got[0]) != 3 || got[0][2] != "x" {
		t.Errorf("after ALTER: got %v, %v", got, err)
	}
	run(t, s, `DROP TABLE dept`)
	if _, _, err := st.Execute(context.Background(), nil); codeOf(t, err) != 942 {
		t.Errorf("after DROP: got %v, want ORA-00942", err)
	}
}
