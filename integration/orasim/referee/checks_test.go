package referee

import (
	"fmt"
	"slices"
	"strings"
)

// check is one step and what a client must see of it.
type check struct {
	name string
	step step
	want want
	// but says what a client sees instead, because of its own nature and not of the server's.
	but map[client]want
	// not names the clients that cannot be asked, with the reason.
	not map[client]string
}

// want is what a client must see. rows nil, affected -1 and position 0 are not looked at.
type want struct {
	rows     [][]cell
	columns  []string
	affected int64
	code     int
	position int
	errors   [][2]int
}

func rows(list ...[]cell) want { return want{rows: list, affected: -1} }

func fails(code int) want { return want{code: code, affected: -1} }

func affects(n int64) want { return want{affected: n} }

func done() want { return want{affected: -1} }

func cells(kind kind, texts ...string) (out []cell) {
	for _, s := range texts {
		out = append(out, cell{kind: kind, text: s, null: s == null})
	}
	return out
}

// column is a result of one column.
func column(kind kind, texts ...string) want {
	w := want{affected: -1, rows: [][]cell{}}
	for _, c := range cells(kind, texts...) {
		w.rows = append(w.rows, []cell{c})
	}
	return w
}

const null = "\x00"

func query(sql string, binds ...bind) step { return step{Do: "query", SQL: sql, Binds: binds} }

func execute(sql string, binds ...bind) step { return step{Do: "exec", SQL: sql, Binds: binds} }

func in(session int, s step) step {
	s.Session = session
	return s
}

func number(v string) bind { return bind{"number", &v} }
func words(v string) bind  { return bind{"text", &v} }
func date(v string) bind   { return bind{"date", &v} }
func raw(v string) bind    { return bind{"raw", &v} }

// checks are all of them, in order: later ones use the tables that earlier ones changed.
func checks() []check {
	var all []check
	for _, list := range [][]check{
		limitChecks(), lobChecks(), bindChecks(), againChecks(), shapeChecks(), fetchChecks(), errorChecks(), sessionChecks(),
	} {
		all = append(all, list...)
	}
	return all
}

// limit is a type with values at its edges, as literals and as what comes back.
type limit struct {
	typ    string
	kind   kind
	values [][2]string
	but    map[client]want
}

func limits() []limit {
	nines := strings.Repeat("9", 38)
	korean := strings.Repeat("가", 1333)
	return []limit{
		{"NUMBER", kindNumber, [][2]string{
			{"0", "0"}, {"-1", "-1"}, {"0.1", "0.1"}, {"-0.01", "-0.01"}, {nines, nines}, {"-" + nines, "-" + nines},
			{"1234567890123456789.0123456789", "1234567890123456789.0123456789"}, {"1E-130", "1E-130"}, {"-1E-130", "-1E-130"},
			{"9." + nines[1:] + "E125", nines + "E88"}, {"1E125", "1E125"}, {"100", "100"}, {"NULL", null},
		}, numberAsDouble(nines)},
		{"NUMBER(38)", kindNumber, [][2]string{{nines, nines}, {"-" + nines, "-" + nines}, {"0", "0"}, {"NULL", null}}, nil},
		{"NUMBER(18,2)", kindNumber, [][2]string{{"9999999999999999.99", "9999999999999999.99"}, {"-0.005", "-0.01"}, {"0", "0"}, {"NULL", null}}, nil},
		{"NUMBER(5,-2)", kindNumber, [][2]string{{"9999949", "9999900"}, {"-150", "-200"}, {"49", "0"}, {"NULL", null}}, noArrow()},
		{"NUMBER(38,38)", kindNumber, [][2]string{{"0." + nines, "0." + nines}, {"-1E-38", "-1E-38"}, {"NULL", null}}, nil},
		{"FLOAT(24)", kindNumber, [][2]string{{"16777217", "16777217"}, {"0.1", "0.1"}, {"NULL", null}}, noArrow()},
		{"BINARY_FLOAT", kindFloat, [][2]string{
			{"0", "0"}, {"-1.5f", "-1.5"}, {"3.40282347E+38f", "3.40282347e+38"}, {"1.17549435E-38f", "1.17549435e-38"}, {"NULL", null},
		}, nil},
		{"BINARY_DOUBLE", kindDouble, [][2]string{
			{"0", "0"}, {"-1.5d", "-1.5"}, {"1.7976931348623157E+308d", "1.7976931348623157e308"},
			{"2.2250738585072014E-308d", "2.2250738585072014e-308"}, {"0.1d", "0.1"}, {"NULL", null},
		}, nil},
		{"VARCHAR2(4000)", kindText, [][2]string{
			{"'a'", "a"}, {"' '", " "}, {"''", null}, {"RPAD('x', 4000, 'xyz')", ("x" + strings.Repeat("xyz", 1333))}, {"'" + korean + "'", korean},
			{"'😀'", "😀"}, {"'O''Brien'", "O'Brien"}, {"CHR(0)||CHR(127)", "\x00\x7f"}, {"NULL", null},
		}, nil},
		{"VARCHAR2(3 CHAR)", kindText, [][2]string{{"'가나다'", "가나다"}, {"'😀😀😀'", "😀😀😀"}, {"NULL", null}}, nil},
		{"CHAR(10)", kindText, [][2]string{{"'a'", "a         "}, {"'가'", "가       "}, {"'0123456789'", "0123456789"}, {"''", null}}, nil},
		{"CHAR(2000)", kindText, [][2]string{{"'x'", "x" + strings.Repeat(" ", 1999)}}, nil},
		{"NVARCHAR2(2000)", kindText, [][2]string{{"'a'", "a"}, {"'가😀'", "가😀"}, {"'" + strings.Repeat("가", 1000) + "'", strings.Repeat("가", 1000)}, {"''", null}}, nil},
		{"NCHAR(4)", kindText, [][2]string{{"'가'", "가   "}, {"NULL", null}}, nil},
		{"RAW(2000)", kindRaw, [][2]string{{"HEXTORAW('00')", "00"}, {"HEXTORAW('" + strings.Repeat("00FEFF", 600) + "')", strings.Repeat("00FEFF", 600)}, {"NULL", null}}, nil},
		{"DATE", kindTime, [][2]string{
			{"DATE '0001-01-01'", "0001-01-01 00:00:00"}, {"DATE '9999-12-31' + 86399/86400", "9999-12-31 23:59:59"},
			{"DATE '2000-02-29'", "2000-02-29 00:00:00"}, {"DATE '1582-10-15'", "1582-10-15 00:00:00"},
			{"DATE '1900-03-01'", "1900-03-01 00:00:00"}, {"NULL", null},
		}, map[client]want{node: column(kindTime, centuryLost, "9999-12-31 23:59:59", "2000-02-29 00:00:00", "1582-10-15 00:00:00", "1900-03-01 00:00:00", null)}},
		{"TIMESTAMP(9)", kindTime, [][2]string{
			{"TIMESTAMP '0001-01-01 00:00:00.000000001'", "0001-01-01 00:00:00.000000001"},
			{"TIMESTAMP '9999-12-31 23:59:59.999999999'", "9999-12-31 23:59:59.999999999"},
			{"TIMESTAMP '2026-09-28 01:02:03'", "2026-09-28 01:02:03"}, {"NULL", null},
		}, map[client]want{
			node:        column(kindTime, centuryLost, "9999-12-31 23:59:59.999", "2026-09-28 01:02:03", null),
			pythonArrow: column(kindTime, "1754-08-30 22:43:41.128654848", "1816-03-30 05:56:08.066276376", "2026-09-28 01:02:03", null), // 64 bits of nanoseconds
		}},
		{"TIMESTAMP(3)", kindTime, [][2]string{{"TIMESTAMP '2026-09-28 01:02:03.4565'", "2026-09-28 01:02:03.457"}, {"NULL", null}}, nil},
		{"TIMESTAMP(0)", kindTime, [][2]string{{"TIMESTAMP '2026-12-31 23:59:59.5'", "2027-01-01 00:00:00"}, {"NULL", null}}, nil},
		{"TIMESTAMP(6) WITH TIME ZONE", kindZoned, [][2]string{
			{"TIMESTAMP '2026-09-28 01:02:03.123456 +09:00'", "2026-09-28 01:02:03.123456 +09:00"},
			{"TIMESTAMP '2026-09-28 01:02:03 -12:30'", "2026-09-28 01:02:03 -12:30"},
			{"TIMESTAMP '0001-01-02 00:00:00 +00:00'", "0001-01-02 00:00:00 +00:00"}, {"NULL", null},
		}, nil},
		{"TIMESTAMP(6) WITH LOCAL TIME ZONE", kindTime, [][2]string{
			{"TIMESTAMP '2026-09-28 01:02:03.5 +09:00'", "2026-09-27 16:02:03.5"}, {"NULL", null},
		}, nil},
		{"INTERVAL DAY(9) TO SECOND(9)", kindSpan, [][2]string{
			{"INTERVAL '1 02:03:04.5' DAY TO SECOND", "1 2:3:4.5"}, {"INTERVAL '-999999998 23:59:59.999999' DAY(9) TO SECOND(9)", "-999999998 23:59:59.999999"},
			{"INTERVAL '0' SECOND", "0 0:0:0.0"}, {"NULL", null},
		}, nil},
		{"INTERVAL YEAR(9) TO MONTH", kindMonths, [][2]string{
			{"INTERVAL '1-2' YEAR TO MONTH", "1-2"}, {"INTERVAL '-99999999-11' YEAR(8) TO MONTH", "-99999999-11"}, {"NULL", null},
		}, nil},
		{"LONG", kindText, [][2]string{{"'long text 가'", "long text 가"}, {"NULL", null}}, nil},
		{"ROWID", kindText, [][2]string{{"CHARTOROWID('AAASdiAAEAAAACXAAB')", "AAASdiAAEAAAACXAAB"}, {"NULL", null}}, noArrow()},
	}
}

// centuryLost is what node-oracledb makes of the year 1: JavaScript's Date takes it for 1901.
const centuryLost = "1901-01-01 00:00:00"

// numberAsDouble is what becomes of a NUMBER without precision in Arrow, and of 1E-130 in go-ora, which takes every value
// that begins with the byte of zero for zero.
func numberAsDouble(nines string) map[client]want {
	values := []string{"0", "-1", "0.1", "-0.01", nines, "-" + nines, "1234567890123456789.0123456789", "1E-130", "-1E-130", nines + "E88", "1E125", "100", null}
	zeroed := slices.Clone(values)
	zeroed[7] = "0"
	return map[client]want{pythonArrow: column(kindDouble, values...), goOra: column(kindNumber, zeroed...)}
}

// noArrow is a type that python-oracledb does not convert to Arrow.
func noArrow() map[client]want { return map[client]want{pythonArrow: fails(-1)} }

func limitChecks() []check {
	var out []check
	for i, l := range limits() {
		w := want{affected: -1}
		for _, v := range l.values {
			w.rows = append(w.rows, cells(l.kind, v[1]))
		}
		out = append(out, check{name: "limits of " + l.typ, step: query(fmt.Sprintf("SELECT v FROM limit_%d ORDER BY id", i)), want: w, but: l.but})
	}
	return append(out, check{name: "always NULL", step: query("SELECT NULL a, '' b, 1 c FROM dual"),
		want: rows([]cell{{null: true}, {null: true}, {kind: kindNumber, text: "1"}})})
}

// seed makes the tables of the checks.
func seed() string {
	var b strings.Builder
	for i, l := range limits() {
		fmt.Fprintf(&b, "CREATE TABLE app.limit_%d (id NUMBER, v %s);\n", i, l.typ)
		for n, v := range l.values {
			fmt.Fprintf(&b, "INSERT INTO app.limit_%d VALUES (%d, %s);\n", i, n, v[0])
		}
	}
	b.WriteString(seedScript)
	for _, n := range widths() {
		var columns, values []string
		for i := range n {
			columns, values = append(columns, fmt.Sprintf("c%d NUMBER(6)", i)), append(values, fmt.Sprint(i))
		}
		fmt.Fprintf(&b, "CREATE TABLE app.wide_%d (%s);\n", n, strings.Join(columns, ", "))
		for range 3 {
			fmt.Fprintf(&b, "INSERT INTO app.wide_%d VALUES (%s);\n", n, strings.Join(values, ", "))
		}
	}
	b.WriteString("COMMIT;\n")
	return b.String()
}

const seedScript = `
CREATE TABLE app.many (n NUMBER(10), same VARCHAR2(40), some VARCHAR2(10));
INSERT INTO app.many SELECT LEVEL, 'the same in every row', CASE WHEN MOD(LEVEL, 3) = 0 THEN NULL ELSE 'v' || MOD(LEVEL, 7) END FROM dual CONNECT BY LEVEL <= 5001;
CREATE TABLE app.fat (n NUMBER, a VARCHAR2(4000), b VARCHAR2(4000), c VARCHAR2(4000), d VARCHAR2(4000), e VARCHAR2(4000));
INSERT INTO app.fat SELECT LEVEL, RPAD('a', 4000, 'a'), RPAD('b', 4000, 'b'), RPAD('c', 4000, 'c'), RPAD('d', 4000, 'd'), RPAD('e', 4000, LEVEL) FROM dual CONNECT BY LEVEL <= 20;
CREATE TABLE app.target (id NUMBER(10) PRIMARY KEY, name VARCHAR2(10), at TIMESTAMP(3), bin RAW(10));
CREATE TABLE app.shifting (id NUMBER(10));
INSERT INTO app.shifting VALUES (1);
CREATE TABLE app.generated ORGANIZATION GENERATOR (ROWS 20000 SEED 7 COLUMNS 10);
CREATE TABLE app.empty (c CLOB, b BLOB);
INSERT INTO app.empty VALUES (EMPTY_CLOB(), EMPTY_BLOB());
CREATE TABLE app.lobs (id NUMBER, c CLOB, b BLOB, nc NCLOB);
INSERT INTO app.lobs VALUES (1, 'short 가😀', HEXTORAW('00FF10'), 'national 가😀');
INSERT INTO app.lobs VALUES (2, NULL, NULL, NULL);
INSERT INTO app.lobs VALUES (3, TO_CLOB(RPAD('가나다', 3000, '가나다')) || RPAD('x', 4000, 'xyz') || RPAD('y', 4000, 'yz'), HEXTORAW(RPAD('00FE', 3000, '00FE')), 'n');
`
