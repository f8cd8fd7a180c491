package sql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/generate"
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// TestGeneratorTable asks a table of a hundred million rows what can be known without reading them.
func TestGeneratorTable(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE big ORGANIZATION GENERATOR (ROWS 100000000 COLUMNS 16 SEED 7)")
	made, err := generate.Sixteen(100_000_000, 7)
	if err != nil {
		t.Fatal(err)
	}
	scn := s.SCN()
	for _, c := range []struct {
		where    string
		from, to int64
	}{
		{"id > 99999000", 99_999_000, 100_000_000},
		{"id >= 50000.5 AND id <= 70000.0", 50_000, 70_000},
		{"id BETWEEN 20 AND 20", 19, 20},
		{"id < 1", 0, 0},
		{"id = 1.5", 0, 0},
		{"id >= 99999999999999999999", 0, 0},
		{"id = TO_NUMBER(NULL)", 0, 0},
		{"(id < 4 OR id IS NULL) AND id < 100", 0, 3},
	} {
		amount, name := made.Totals(2, c.from, c.to), made.Totals(6, c.from, c.to)
		note := made.Totals(7, c.from, c.to)
		sum := amount.Sum.String()
		if c.from == c.to {
			sum = ora.NullText
		}
		want := fmt.Sprintf("%d|%d|%s|%s|%s", c.to-c.from, note.Count, sum, ora.Text(textType(9), name.Min), ora.Text(textType(9), name.Max))
		got := rowsOf(t, s, fmt.Sprintf("SELECT COUNT(*), COUNT(note), SUM(amount), MIN(name), MAX(name) FROM big AS OF SCN %d WHERE %s", scn, c.where))
		if got != want {
			t.Errorf("%s: got %s, want %s", c.where, got, want)
		}
	}
	if _, err := s.Query(context.Background(), fmt.Sprintf("SELECT id FROM big AS OF SCN %d WHERE id = 1", scn-1)); codeOf(t, err) != 1466 {
		t.Errorf("before it was created: got %v, want ORA-01466", err)
	}
}

// TestGeneratorManifest groups by ranges of the key, as a manifest query does.
func TestGeneratorManifest(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE big (id NUMBER(12) PRIMARY KEY, v NUMBER(9,2), d DATE) ORGANIZATION GENERATOR (ROWS 50000 SEED 1)")
	got := rowsOf(t, s, `SELECT CASE WHEN id < 10001 THEN 0 WHEN id >= 10001 AND id < 30001 THEN 1 ELSE 2 END, COUNT(*), SUM(id), MIN(id), MAX(id)
		FROM big WHERE d >= DATE '2025-01-01' OR d IS NULL GROUP BY CASE WHEN id < 10001 THEN 0 WHEN id >= 10001 AND id < 30001 THEN 1 ELSE 2 END`)
	if want := "0|10000|50005000|1|10000\n1|20000|400010000|10001|30000\n2|20000|800010000|30001|50000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	run(t, s, "CREATE TABLE copy AS SELECT * FROM big WHERE id <= 300")
	if got := rowsOf(t, s, "SELECT COUNT(*) FROM copy c, big b WHERE c.id = b.id AND b.id <= 300 AND DECODE(c.v, b.v, 1, 0) = 1"); got != "300" {
		t.Errorf("%s rows of a copy are equal", got)
	}
}

func TestGeneratorRowids(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE big ORGANIZATION GENERATOR (ROWS 1000000 COLUMNS 10)")
	rows, err := s.Query(context.Background(), "SELECT ROWIDTOCHAR(ROWID) FROM big WHERE id IN (501000) OR id = 500500 AND id > 1")
	if err != nil || len(rows) != 2 {
		t.Fatalf("got %v, %v", rows, err)
	}
	got := rowsOf(t, s, fmt.Sprintf("SELECT COUNT(*), MIN(id), MAX(id) FROM big WHERE ROWID > '%s' AND ROWID <= '%s'", rows[0][0], rows[1][0]))
	if got != "500|500501|501000" {
		t.Errorf("got %s", got)
	}
}

func TestGeneratorRefusesChanges(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE big ORGANIZATION GENERATOR (ROWS 10 COLUMNS 10)")
	for _, text := range []string{"INSERT INTO big (id) VALUES (1)", "UPDATE big SET id = 1", "DELETE FROM big", "TRUNCATE TABLE big", "ALTER TABLE big ADD x NUMBER"} {
		if _, err := s.Run(context.Background(), text); codeOf(t, errors.Unwrap(err)) != 30657 && codeOf(t, err) != 30657 {
			t.Errorf("%s: got %v, want ORA-30657", text, err)
		}
	}
	run(t, s, "DROP TABLE big")
}

// TestPackedRows reads a range by Next and by NextPacked: the values are the same.
func TestPackedRows(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE big ORGANIZATION GENERATOR (ROWS 1000000 COLUMNS 10)")
	const text = "SELECT name, id, note, id FROM big WHERE id > 16300 AND id <= 16500"
	plain := execute(t, s, text)
	source, ok := execute(t, s, text).(ora.PackedSource)
	if !ok {
		t.Fatal("the query is not packed")
	}
	var packed ora.Packed
	rows := 0
	for {
		n, err := source.NextPacked(context.Background(), &packed, 64)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += n
	}
	if rows != 200 || len(packed.Ends) != 200 {
		t.Fatalf("got %d rows, %d ends", rows, len(packed.Ends))
	}
	at := 0
	for n, end := range packed.Ends {
		row, err := plain.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for _, v := range row {
			want = append(append(want, byte(len(v))), v...)
		}
		if !slices.Equal(packed.Bytes[at:end], want) {
			t.Fatalf("row %d differs", n)
		}
		at = end
	}
}

func execute(tb testing.TB, s *Session, text string) ora.RowSource {
	tb.Helper()
	st, err := s.Prepare(text)
	if err != nil {
		tb.Fatal(err)
	}
	cur, _, err := st.Execute(context.Background(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	return cur
}

func generated(b *testing.B) *Session {
	s, err := New(Config{}).Open(ora.Login{User: "SYSTEM"})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.Run(context.Background(), "CREATE TABLE big ORGANIZATION GENERATOR (ROWS 100000000 COLUMNS 10)"); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkGeneratedRows(b *testing.B) {
	cur := execute(b, generated(b), "SELECT b.* FROM big b WHERE id > 5 AND amount IS NOT NULL")
	for b.Loop() {
		if _, err := cur.Next(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func BenchmarkGeneratedPacked(b *testing.B) {
	source := execute(b, generated(b), "SELECT * FROM big WHERE id > 5").(ora.PackedSource)
	var packed ora.Packed
	rows := 0
	for b.Loop() {
		packed.Reset()
		n, err := source.NextPacked(context.Background(), &packed, 4096)
		if err != nil {
			b.Fatal(err)
		}
		rows += n
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkGeneratedManifest groups a million rows by ranges of the key.
func BenchmarkGeneratedManifest(b *testing.B) {
	s := generated(b)
	const text = `SELECT CASE WHEN id < 250001 THEN 0 WHEN id >= 250001 AND id < 500001 THEN 1 WHEN id >= 500001 AND id < 750001 THEN 2 ELSE 3 END,
		COUNT(*), COUNT(amount), SUM(amount), MIN(booked), MAX(booked) FROM big WHERE id <= 1000000 GROUP BY
		CASE WHEN id < 250001 THEN 0 WHEN id >= 250001 AND id < 500001 THEN 1 WHEN id >= 500001 AND id < 750001 THEN 2 ELSE 3 END`
	for b.Loop() {
		if n := drainCount(b, s, text); n != 4 {
			b.Fatalf("got %d groups", n)
		}
	}
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "rows/s")
}
