package wire_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

func number(t *testing.T, s string) ora.Value {
	t.Helper()
	n, err := ora.ParseNum(s)
	if err != nil {
		t.Fatal(err)
	}
	return n.Encode()
}

func TestTypesAtTheirLimits(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	first := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	rowid, err := ora.ParseRowID("AAASdiAAEAAAACXAAB")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("가", 1333)
	raw := bytes.Repeat([]byte{0, 0xFE, 0xFF}, 666)
	digits := strings.Repeat("9", 38)
	ts := ora.Type{Code: ora.Timestamp, Scale: 9, Bytes: 11}
	tz := ora.Type{Code: ora.TimestampTZ, Scale: 9, Bytes: 13}
	national := ora.Type{Code: ora.Varchar2, Form: ora.FormNational, Bytes: 80, Chars: 40}
	char := ora.Type{Code: ora.Char, Form: ora.FormDatabase, Bytes: 5, Chars: 5}
	cases := []struct {
		name  string
		typ   ora.Type
		value ora.Value
		want  any
	}{
		{"number null", numberType, nil, nil},
		{"number 38 nines", numberType, number(t, digits), digits},
		{"number negative fraction", numberType, number(t, "-0.00000000000000000001"), "-0.00000000000000000001"},
		{"number scaled", ora.Type{Code: ora.Number, Precision: 18, Scale: 2, Bytes: 22}, number(t, "71853075.25"), "71853075.25"},
		{"number integer", ora.Type{Code: ora.Number, Precision: 10, Bytes: 22}, number(t, "-2147483648"), "-2147483648"},
		{"varchar null", text(10), nil, nil},
		{"varchar 3999 bytes", text(4000), ora.Value(long), long},
		{"char padded", char, ora.Value("a    "), "a    "},
		{"nvarchar", national, ora.EncodeNational("åß가😀"), "åß가😀"},
		{"date last", ora.Type{Code: ora.Date, Bytes: 7}, ora.FromGo(last).EncodeDate(), last.Truncate(time.Second)},
		{"date first", ora.Type{Code: ora.Date, Bytes: 7}, ora.FromGo(first).EncodeDate(), first},
		{"date null", ora.Type{Code: ora.Date, Bytes: 7}, nil, nil},
		{"timestamp last", ts, ora.FromGo(last).EncodeTimestamp(), last},
		{"timestamp without fraction", ts, ora.FromGo(first).EncodeTimestamp(), first},
		{"timestamp tz", tz, ora.FromGo(last).EncodeTZ(9 * 60), last.Add(-9 * time.Hour)},
		{"raw 1998 bytes", ora.Type{Code: ora.Raw, Bytes: 2000}, ora.Value(raw), raw},
		{"binary float", ora.Type{Code: ora.BinaryFloat, Bytes: 4}, ora.EncodeFloat(-1.5), float32(-1.5)},
		{"binary double", ora.Type{Code: ora.BinaryDouble, Bytes: 8}, ora.EncodeDouble(math.MaxFloat64), math.MaxFloat64},
		{"rowid", ora.Type{Code: ora.Rowid, Bytes: 18}, rowid.Encode(), rowid.String()},
		{"rowid null", ora.Type{Code: ora.Rowid, Bytes: 18}, nil, nil},
		{"always null", ora.Type{Code: ora.Varchar2, Form: ora.FormDatabase}, nil, nil},
	}
	var cols []ora.Column
	var row []ora.Value
	for _, c := range cases {
		cols, row = append(cols, column(c.name, c.typ)), append(row, c.value)
	}
	f := newFake()
	f.query("SELECT TYPES", cols, row, row, row, row)
	rows, err := open(t, start(t, f, nil), "PREFETCH_ROWS=100").Query("SELECT TYPES")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	n := 0
	for ; rows.Next(); n++ {
		got, into := make([]any, len(cols)), make([]any, len(cols))
		for i := range got {
			into[i] = &got[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			if !same(got[i], c.want) {
				t.Errorf("row %d, %s: got %T %v, want %T %v", n, c.name, got[i], got[i], c.want, c.want)
			}
		}
	}
	if err := rows.Err(); err != nil || n != 4 {
		t.Fatalf("got %d rows and error %v, want 4 and none", n, err)
	}
}

func same(got, want any) bool {
	switch w := want.(type) {
	case time.Time:
		g, ok := got.(time.Time)
		return ok && g.Equal(w)
	case []byte:
		g, ok := got.([]byte)
		return ok && bytes.Equal(g, w)
	}
	return fmt.Sprint(got) == fmt.Sprint(want)
}

func TestColumnTypesAreDescribed(t *testing.T) {
	f := newFake()
	f.query("SELECT D", []ora.Column{
		{Name: "AMOUNT", Type: ora.Type{Code: ora.Number, Precision: 18, Scale: 2, Bytes: 22}},
		column("FREE", numberType),
		column("NAME", ora.Type{Code: ora.Varchar2, Form: ora.FormDatabase, Bytes: 40, Chars: 10, CharUsed: true}),
	})
	rows, err := open(t, start(t, f, nil), "").Query("SELECT D")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range types {
		precision, scale, _ := c.DecimalSize()
		length, _ := c.Length()
		nullable, _ := c.Nullable()
		got = append(got, fmt.Sprint(c.Name(), " ", c.DatabaseTypeName(), " ", precision, " ", scale, " ", length, " ", nullable))
	}
	want := []string{"AMOUNT NUMBER 18 2 0 false", "FREE NUMBER 38 255 0 true", "NAME NCHAR 0 0 10 true"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFetchSizes(t *testing.T) {
	const total = 1003
	f := newFake()
	f.numbers("SELECT N", total)
	for _, change := range []func(*wire.Config){nil, func(c *wire.Config) { c.MaxSDU = 700 }, func(c *wire.Config) { c.MaxReplyRows = 37 }} {
		s := start(t, f, change)
		for _, size := range []int{1, 2, 25, 100, 5000} {
			db := open(t, s, fmt.Sprintf("PREFETCH_ROWS=%d", size))
			if got := sum(t, db, "SELECT N"); got != total*(total+1)/2 {
				t.Errorf("fetch size %d: sum %d, want %d", size, got, total*(total+1)/2)
			}
			_ = db.Close()
		}
	}
}

func sum(t *testing.T, db *sql.DB, query string) (total int) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n int
		var s string
		if err := rows.Scan(&n, &s); err != nil {
			t.Fatal(err)
		}
		if s != "same in every row" {
			t.Fatalf("row %d: text %q", n, s)
		}
		total += n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return total
}

// TestCompressedRows has columns that repeat in all combinations, NULLs and empty vectors among them.
func TestCompressedRows(t *testing.T) {
	const width, total = 11, 300
	cols := make([]ora.Column, width)
	for i := range cols {
		cols[i] = column(fmt.Sprintf("C%d", i), numberType)
	}
	want := func(i, c int) (int64, bool) { v := int64(i * c / 7 % 5); return v, v != 3 }
	f := newFake()
	f.add("SELECT C", canned{kind: ora.KindSelect, columns: cols, row: func(i int) ([]ora.Value, error) {
		if i == total {
			return nil, io.EOF
		}
		row := make([]ora.Value, width)
		for c := range row {
			if v, ok := want(i, c); ok {
				row[c] = ora.EncodeInt(v)
			}
		}
		return row, nil
	}})
	rows, err := open(t, start(t, f, nil), "PREFETCH_ROWS=50").Query("SELECT C")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	i := 0
	for ; rows.Next(); i++ {
		got, into := make([]sql.NullInt64, width), make([]any, width)
		for c := range got {
			into[c] = &got[c]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for c := range got {
			if v, ok := want(i, c); got[c].Valid != ok || ok && got[c].Int64 != v {
				t.Fatalf("row %d column %d: got %v, want %d %t", i, c, got[c], v, ok)
			}
		}
	}
	if err := rows.Err(); err != nil || i != total {
		t.Fatalf("got %d rows and error %v, want %d and none", i, err, total)
	}
}

func TestManyColumns(t *testing.T) {
	for _, width := range []int{1, 8, 9, 255, 256, 257, 1000} {
		cols, row := make([]ora.Column, width), make([]ora.Value, width)
		for i := range cols {
			cols[i], row[i] = column(fmt.Sprintf("C%d", i), numberType), ora.EncodeInt(int64(i))
		}
		f := newFake()
		f.query("SELECT W", cols, row, row, row)
		rows, err := open(t, start(t, f, nil), "").Query("SELECT W")
		if err != nil {
			t.Fatal(err)
		}
		got, into := make([]int, width), make([]any, width)
		for i := range got {
			into[i] = &got[i]
		}
		n := 0
		for ; rows.Next(); n++ {
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			if got[width-1] != width-1 {
				t.Fatalf("width %d: last column %d", width, got[width-1])
			}
		}
		if err := rows.Err(); err != nil || n != 3 {
			t.Fatalf("width %d: got %d rows and error %v, want 3 and none", width, n, err)
		}
		_ = rows.Close()
	}
}

func TestLongColumns(t *testing.T) {
	content := strings.Repeat("long and longer ", 5000)
	f := newFake()
	f.query("SELECT L", []ora.Column{column("N", numberType), column("L", ora.Type{Code: ora.Long, Form: ora.FormDatabase})},
		[]ora.Value{ora.EncodeInt(1), ora.Value(content)}, []ora.Value{ora.EncodeInt(2), nil})
	db := open(t, start(t, f, nil), "")
	rows, err := db.Query("SELECT L")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var got []sql.NullString
	for rows.Next() {
		var n int
		var s sql.NullString
		if err := rows.Scan(&n, &s); err != nil {
			t.Fatal(err)
		}
		got = append(got, s)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].String != content || got[1].Valid {
		t.Errorf("got %d rows, the first of %d bytes; want 2, %d and NULL", len(got), len(got[0].String), len(content))
	}
}

func TestCursorIsUsedAgain(t *testing.T) {
	f := newFake()
	f.numbers("SELECT N", 60)
	db := open(t, start(t, f, nil), "PREFETCH_ROWS=7")
	stmt, err := db.Prepare("SELECT N")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stmt.Close() }()
	for round := range 3 {
		rows, err := stmt.Query()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() && (round != 1 || n < 10) { // the second time it is left half read
			n++
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
		if want := []int{60, 10, 60}[round]; n != want {
			t.Fatalf("round %d: got %d rows, want %d", round, n, want)
		}
	}
	if err := selectOne(db); err != nil {
		t.Fatal(err)
	}
}

func TestOpenCursorsAreLimited(t *testing.T) {
	f := newFake()
	f.numbers("SELECT N", 100)
	db := open(t, start(t, f, func(c *wire.Config) { c.MaxCursors = 5 }), "PREFETCH_ROWS=2")
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var stmts []*sql.Stmt
	for range 10 {
		stmt, err := conn.PrepareContext(context.Background(), "SELECT N")
		if err != nil {
			t.Fatal(err)
		}
		stmts = append(stmts, stmt)
		rows, err := stmt.Query()
		if err != nil {
			if !strings.Contains(err.Error(), "ORA-01000") || len(stmts) < 5 {
				t.Fatalf("statement %d: %v", len(stmts), err)
			}
			break
		}
		_ = rows.Close()
	}
	if len(stmts) == 10 {
		t.Fatal("ten cursors were opened where five are allowed")
	}
	for _, stmt := range stmts {
		_ = stmt.Close()
	}
	rows, err := conn.QueryContext(context.Background(), "SELECT N")
	if err != nil {
		t.Fatalf("after closing: %v", err)
	}
	_ = rows.Close()
}

func TestSessionsAtOnce(t *testing.T) {
	f := newFake()
	f.numbers("SELECT N", 500)
	db := open(t, start(t, f, nil), "PREFETCH_ROWS=50")
	db.SetMaxOpenConns(4)
	errs := make(chan error, 16)
	for range cap(errs) {
		go func() {
			n, err := count(context.Background(), db, "SELECT N")
			if err == nil && n != 500 {
				err = fmt.Errorf("got %d rows, want 500", n)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}
