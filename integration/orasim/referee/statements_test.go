package referee

import (
	"fmt"
	"strings"
)

// lobRows are the rows of app.lobs.
func lobRows() want {
	long := strings.Repeat("가나다", 1000) + "x" + strings.Repeat("xyz", 1333) + "y" + strings.Repeat("yz", 1999) + "y"
	return rows(
		[]cell{num("1"), txt("short 가😀"), hexa("00FF10"), txt("national 가😀")},
		[]cell{num("2"), {null: true}, {null: true}, {null: true}},
		[]cell{num("3"), txt(long), hexa(strings.Repeat("00FE", 750)), txt("n")},
	)
}

func num(s string) cell  { return cell{kind: kindNumber, text: s} }
func txt(s string) cell  { return cell{kind: kindText, text: s} }
func hexa(s string) cell { return cell{kind: kindRaw, text: s} }
func tim(s string) cell  { return cell{kind: kindTime, text: s} }

func lobChecks() []check {
	q := query("SELECT id, c, b, nc FROM lobs ORDER BY id")
	byLocator := q
	byLocator.Locator = true
	one := q
	one.Fetch = 1
	empty := query("SELECT c, b FROM empty")
	empty.Locator = true
	nothing := rows([]cell{{null: true}, {null: true}}) // they do not tell an empty LOB from NULL
	long := strings.Repeat("가나다라", 10_000)
	return []check{
		{name: "LOBs as values", step: q, want: lobRows()},
		{name: "LOBs as values, again", step: q, want: lobRows()},
		{name: "LOBs as values, row by row", step: one, want: lobRows()},
		{name: "LOBs by locator", step: byLocator, want: lobRows()},
		{name: "LOBs by locator, again", step: byLocator, want: lobRows()},
		{name: "empty LOBs by locator", step: empty, want: rows([]cell{txt(""), hexa("")}), but: map[client]want{goOra: nothing, node: nothing, pythonArrow: nothing}},
		{name: "bind 120,000 bytes to a CLOB", step: execute("INSERT INTO lobs (id, c) VALUES (10, :1)", words(long)), want: affects(1)},
		{name: "read the CLOB back", step: query("SELECT c, b FROM lobs WHERE id = 10"), want: rows([]cell{txt(long), {null: true}})},
		{name: "undo it", step: step{Do: "rollback"}, want: done()},
	}
}

func bindChecks() []check {
	q := "SELECT :1 n, :2 t, :3 d, :4 r FROM dual"
	insert := "INSERT INTO target (id, name, at, bin) VALUES (:1, :2, :3, :4)"
	batch := step{Do: "batch", SQL: insert}
	for i := range 50 {
		batch.Rows = append(batch.Rows, []bind{number(fmt.Sprint(100 + i)), words(fmt.Sprint("n", i)), date("2026-09-28T01:02:03"), raw("00FF")})
	}
	lenient := step{Do: "batch", Lenient: true, SQL: insert}
	for i := range 10 {
		lenient.Rows = append(lenient.Rows, []bind{number(fmt.Sprint(145 + i)), words("again"), date("2026-09-28T01:02:03"), raw("01")})
	}
	return []check{
		{name: "binds", step: query(q, number("42"), words("héllo 가😀"), date("2026-09-28T01:02:03"), raw("00FF10")),
			want: rows([]cell{num("42"), txt("héllo 가😀"), tim("2026-09-28 01:02:03"), hexa("00FF10")})},
		{name: "other binds", step: query(q, number("-0.5"), words("x"), date("1970-01-01T00:00:00"), raw("01")),
			want: rows([]cell{num("-0.5"), txt("x"), tim("1970-01-01 00:00:00"), hexa("01")})},
		{name: "a bind that is NULL", step: query("SELECT NVL(:1, 'none') t FROM dual", bind{Type: "text"}), want: column(kindText, "none")},
		{name: "a bind of 4,000 bytes", step: query("SELECT LENGTH(:1) n FROM dual", words(strings.Repeat("x", 4000))), want: column(kindNumber, "4000")},
		{name: "a comparison with a bind", step: query("SELECT n FROM many WHERE n BETWEEN :1 AND :2 ORDER BY n", number("10"), number("12")), want: column(kindNumber, "10", "11", "12")},
		{name: "the same with others", step: query("SELECT n FROM many WHERE n BETWEEN :1 AND :2 ORDER BY n", number("4999"), number("5000")), want: column(kindNumber, "4999", "5000")},
		{name: "too few binds", step: query("SELECT :1, :2 FROM dual", number("1")), want: fails(1008),
			not: map[client]string{python: "refuses by itself (DPY-4009)", pythonArrow: "refuses by itself", node: "refuses by itself (NJS-098)", jdbc11: "refuses by itself (ORA-17041)", jdbc8: "refuses by itself"}},
		{name: "insert", step: execute(insert, number("1"), words("one"), date("2026-09-28T01:02:03"), raw("FF")), want: affects(1)},
		{name: "insert again", step: execute(insert, number("2"), words("two"), date("2026-09-28T01:02:04"), raw("FE")), want: affects(1)},
		{name: "insert a duplicate", step: execute(insert, number("2"), words("dup"), date("2026-09-28T01:02:04"), raw("FE")), want: fails(1)},
		{name: "update", step: execute("UPDATE target SET name = 'x' WHERE id < :1", number("10")), want: affects(2)},
		{name: "array insert", step: batch, want: affects(50)},
		{name: "array insert that collects errors", step: lenient,
			want: want{affected: 5, errors: [][2]int{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}}},
			not:  map[client]string{goOra: "has no batch errors", jdbc11: "has no batch errors", jdbc8: "has no batch errors"}},
		{name: "commit", step: step{Do: "commit"}, want: done()},
		{name: "what was inserted", step: query("SELECT id, name, at, bin FROM target WHERE id IN (1, 2, 149) ORDER BY id"), want: rows(
			[]cell{num("1"), txt("x"), tim("2026-09-28 01:02:03"), hexa("FF")},
			[]cell{num("2"), txt("x"), tim("2026-09-28 01:02:04"), hexa("FE")},
			[]cell{num("149"), txt("n49"), tim("2026-09-28 01:02:03"), hexa("00FF")})},
	}
}

// againChecks execute statements again whose tables changed under them.
func againChecks() []check {
	q := query("SELECT * FROM shifting")
	wider := want{affected: -1, columns: []string{"ID", "NAME"}, rows: [][]cell{{num("1"), txt("new")}}}
	narrower := want{affected: -1, columns: []string{"OTHER"}, rows: [][]cell{}}
	// The JDBC driver's statement cache tells its caller what the others answer by parsing again.
	stale := func(code int) map[client]want { return map[client]want{jdbc11: fails(code), jdbc8: fails(code)} }
	return []check{
		{name: "before ALTER TABLE", step: q, want: want{affected: -1, columns: []string{"ID"}, rows: [][]cell{{num("1")}}}},
		{name: "the same again", step: q, want: rows([]cell{num("1")})},
		{name: "add a column", step: execute("ALTER TABLE shifting ADD (name VARCHAR2(10) DEFAULT 'new')"), want: affects(0)},
		{name: "after ADD", step: q, want: wider, but: stale(1007)},
		{name: "after ADD, again", step: q, want: wider},
		{name: "drop the table", step: execute("DROP TABLE shifting"), want: affects(0)},
		{name: "make it narrower", step: execute("CREATE TABLE shifting (other NUMBER)"), want: affects(0)},
		{name: "after CREATE", step: q, want: narrower, but: stale(1007)},
		{name: "after CREATE, again", step: q, want: narrower},
		{name: "drop it", step: execute("DROP TABLE shifting"), want: affects(0)},
		{name: "make it of another type", step: execute("CREATE TABLE shifting (other DATE)"), want: affects(0)},
		{name: "after another CREATE", step: q, want: narrower, but: stale(932)},
		{name: "after another CREATE, again", step: q, want: narrower},
		{name: "drop it again", step: execute("DROP TABLE shifting"), want: affects(0)},
		{name: "after DROP TABLE", step: q, want: fails(942)},
		{name: "end of DDL", step: step{Do: "commit"}, want: done()},
	}
}

// peculiarChecks are those that depend on packets, replies and logins.
func peculiarChecks() []check {
	all := append(lobChecks(), errorChecks()...)
	for _, c := range fetchChecks() {
		if c.step.Fetch == 100 || c.step.Fetch == 5000 {
			all = append(all, c)
		}
	}
	return append(all, shapeChecks()...)
}

// widths are numbers of columns around those at which the protocol changes its fields.
func widths() []int { return []int{1, 8, 9, 255, 256, 257, 1000} }

func shapeChecks() []check {
	var out []check
	for _, n := range widths() {
		var row []cell
		for i := range n {
			row = append(row, num(fmt.Sprint(i)))
		}
		out = append(out, check{name: fmt.Sprint(n, " columns"), step: query(fmt.Sprintf("SELECT * FROM wide_%d", n)), want: rows(row, row, row)})
	}
	fat := want{affected: -1}
	for i := range 20 {
		row := []cell{num(fmt.Sprint(i + 1))}
		for _, letter := range []string{"a", "b", "c", "d"} {
			row = append(row, txt(strings.Repeat(letter, 4000)))
		}
		n := fmt.Sprint(i + 1)
		fat.rows = append(fat.rows, append(row, txt("e"+strings.Repeat(n, 4000)[:3999])))
	}
	return append(out, check{name: "rows of 20,000 bytes", step: query("SELECT n, a, b, c, d, e FROM fat ORDER BY n"), want: fat})
}

func manyRows() want {
	w := want{affected: -1, columns: []string{"N", "SAME", "SOME"}}
	for i := 1; i <= 5001; i++ {
		some := txt(fmt.Sprint("v", i%7))
		if i%3 == 0 {
			some = cell{null: true}
		}
		w.rows = append(w.rows, []cell{num(fmt.Sprint(i)), txt("the same in every row"), some})
	}
	return w
}

func fetchChecks() []check {
	var out []check
	for _, n := range []int{1, 2, 25, 100, 5000} {
		q := query("SELECT n, same, some FROM many ORDER BY n")
		q.Fetch = n
		out = append(out, check{name: fmt.Sprintf("5,001 rows, %d a round trip", n), step: q, want: manyRows()})
	}
	none := query("SELECT n FROM many WHERE 1 = 0")
	return append(out, check{name: "no rows", step: none, want: want{affected: -1, columns: []string{"N"}, rows: [][]cell{}}})
}

func errorChecks() []check {
	at := func(code, position int) want { return want{code: code, position: position, affected: -1} }
	well := check{name: "and the session goes on", step: query("SELECT 1 FROM dual"), want: column(kindNumber, "1")}
	cancelled := func(row int) step {
		s := query(fmt.Sprintf("SELECT /*orasim hold row=%d*/ n FROM many", row))
		s.Fetch, s.Cancel = 25, true
		return s
	}
	midFetch := query("SELECT /*orasim error code=1555 row=2500*/ n FROM many")
	midFetch.Fetch = 100
	divided := query("SELECT 1 / (3000 - n) x FROM many")
	divided.Fetch = 100
	return []check{
		{name: "no such table", step: query("SELECT * FROM nosuch"), want: at(942, 14)}, well,
		{name: "no such column", step: query("SELECT nosuch FROM dual"), want: at(904, 7)}, well,
		{name: "no SQL", step: execute("SELEC 1"), want: fails(900)}, well,
		{name: "an error at execute", step: query("SELECT TO_NUMBER('x') FROM dual"), want: fails(1722)}, well,
		{name: "an error in mid-fetch", step: divided, want: fails(1476)}, well,
		{name: "ORA-01555 in mid-fetch", step: midFetch, want: fails(1555)}, well,
		{name: "cancel during execute", step: cancelled(0), want: fails(1013)}, well,
		{name: "cancel in mid-fetch", step: cancelled(100), want: fails(1013),
			not: map[client]string{goOra: "watches no context while it fetches, and would wait for ever"}}, well,
		{name: "wrong password", step: step{Do: "login", Password: "wrong"}, want: fails(1017)},
		{name: "unknown user", step: step{Do: "login", User: "nobody", Password: "wrong"}, want: fails(1017)},
		{name: "unknown service", step: step{Do: "login", Service: "NOSUCH"}, want: fails(12514)},
		{name: "right password", step: step{Do: "login"}, want: done()},
	}
}

func sessionChecks() []check {
	count := query("SELECT COUNT(*) FROM target WHERE id = 500")
	insert := execute("INSERT INTO target (id) VALUES (500)")
	both := step{Do: "interleave", SQL: "SELECT n, same FROM many WHERE n <= 101 ORDER BY n", Fetch: 2}
	w := want{affected: -1}
	for i := range 101 {
		row := []cell{num(fmt.Sprint(i + 1)), txt("the same in every row")}
		w.rows = append(w.rows, append(row, row...))
	}
	return []check{
		{name: "insert in one session", step: insert, want: affects(1)},
		{name: "it is there", step: count, want: column(kindNumber, "1")},
		{name: "the other does not see it", step: in(1, count), want: column(kindNumber, "0")},
		{name: "roll back", step: step{Do: "rollback"}, want: done()},
		{name: "it is gone", step: count, want: column(kindNumber, "0")},
		{name: "insert again", step: insert, want: affects(1)},
		{name: "commit", step: step{Do: "commit"}, want: done()},
		{name: "now the other sees it", step: in(1, count), want: column(kindNumber, "1")},
		{name: "two sessions at once", step: both, want: w},
		{name: "200 sessions one after another", step: step{Do: "sessions_in_turn", Count: 200, SQL: "SELECT 1 FROM dual"}, want: affects(200)},
	}
}
