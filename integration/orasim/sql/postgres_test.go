package sql

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// Where Oracle and PostgreSQL differ, so that no expression here goes there:
//
//   - '' is NULL in Oracle: LENGTH, || and comparisons of what may be empty or NULL;
//   - GREATEST and LEAST with a NULL are NULL in Oracle, and leave it out in PostgreSQL;
//   - integers divide to fractions in Oracle; every literal has a point here, and quotients are rounded;
//   - NUMBER has 38 to 40 digits and PostgreSQL's numeric more: 30 are compared;
//   - dates before 1582-10-15 are of the Julian calendar in Oracle; there is a time in every DATE;
//   - text is compared by bytes in Oracle: COLLATE "C" in PostgreSQL;
//   - NULLs sort last in both, but DESC turns that round in both too;
//   - TO_CHAR of numbers, SUBSTR from 0 or before, TRANSLATE to nothing, INITCAP of digits, POWER and the like.

// dialects writes one expression for both.
type dialects struct{ r *rand.Rand }

func (d dialects) pick(list ...string) string { return list[d.r.Intn(len(list))] }

func (d dialects) number(depth int) string {
	if depth == 0 {
		return d.pick("a", "b", "id", fmt.Sprintf("%d.0", d.r.Intn(200)-100), fmt.Sprintf("%.2f", d.r.Float64()*100), "CAST(NULL AS NUMERIC)")
	}
	x, y := d.number(depth-1), d.number(depth-1)
	switch d.r.Intn(14) {
	case 0, 1, 2:
		return "(" + x + " " + d.pick("+", "-", "*") + " " + y + ")"
	case 3:
		return "ROUND(" + d.number(0) + " / NULLIF(" + d.number(0) + ", 0.0), 6)"
	case 4:
		return fmt.Sprintf("%s(%s, %d)", d.pick("ROUND", "TRUNC"), x, d.r.Intn(4))
	case 5:
		return d.pick("ABS", "SIGN", "FLOOR", "CEIL") + "(" + x + ")"
	case 6:
		return "MOD(" + x + ", NULLIF(" + d.number(0) + ", 0.0))"
	case 7:
		return d.pick("GREATEST", "LEAST") + "(COALESCE(" + x + ", 1.0), COALESCE(" + y + ", 2.0))"
	case 8:
		return "COALESCE(" + x + ", " + y + ", 3.0)"
	case 9:
		return "NULLIF(" + x + ", " + y + ")"
	case 10:
		return "CASE WHEN " + d.condition(depth-1) + " THEN " + x + " ELSE " + y + " END"
	case 11:
		return "(LENGTH(" + d.text(depth-1) + ") * 1.0)"
	case 12:
		return "((" + d.date() + " - " + d.date() + ") * 1.0)"
	}
	return "EXTRACT(" + d.pick("YEAR", "MONTH", "DAY") + " FROM " + d.date() + ")"
}

// text is never NULL or empty.
func (d dialects) text(depth int) string {
	if depth == 0 {
		return d.pick("s", "'lorem'", "'Ipsum d'", "'x'", "'ab12ab'")
	}
	x := d.text(depth - 1)
	switch d.r.Intn(7) {
	case 0:
		return d.pick("UPPER", "LOWER") + "(" + x + ")"
	case 1:
		return "(" + x + " || " + d.text(depth-1) + ")"
	case 2:
		return fmt.Sprintf("SUBSTR(%s, 1, %d)", x, 1+d.r.Intn(5))
	case 3:
		return fmt.Sprintf("%s(%s, %d, '%s')", d.pick("LPAD", "RPAD"), x, 1+d.r.Intn(9), d.pick("*", "-+"))
	case 4:
		return "('<' || " + d.pick("LTRIM", "RTRIM") + "(" + x + ", 'abx') || '>')"
	case 5:
		return "('_' || REPLACE(" + x + ", 'b', 'yy'))"
	}
	return "TO_CHAR(" + d.date() + ", '" + d.pick("YYYY-MM-DD", "DDD", "Q", "IYYY-IW", "FMDay", "DD MON YYYY", "J", "D") + "')"
}

func (d dialects) date() string {
	switch d.r.Intn(3) {
	case 0:
		return "dt"
	case 1:
		return fmt.Sprintf("(dt + %d)", d.r.Intn(1000)-500)
	}
	return fmt.Sprintf("DATE '%04d-%02d-%02d'", 1600+d.r.Intn(600), 1+d.r.Intn(12), 1+d.r.Intn(28))
}

func (d dialects) condition(depth int) string {
	if depth <= 0 {
		switch d.r.Intn(6) {
		case 0:
			return d.number(0) + " IS " + d.pick("", "NOT ") + "NULL"
		case 1:
			return d.text(1) + " LIKE '" + d.pick("%m", "_b%", "I%", "%1%", "x") + "'"
		case 2:
			return d.number(1) + d.pick("", " NOT") + " IN (" + d.number(0) + ", " + d.number(0) + ")"
		case 3:
			return d.number(1) + d.pick("", " NOT") + " BETWEEN " + d.number(0) + " AND " + d.number(0)
		case 4:
			return d.text(1) + " " + d.pick("=", "<", ">=", "<>") + " " + d.text(0)
		}
		return d.number(1) + " " + d.pick("=", "<", ">=", "<>") + " " + d.number(1)
	}
	x, y := d.condition(depth-1), d.condition(depth-1)
	return d.pick("("+x+" AND "+y+")", "("+x+" OR "+y+")", "NOT ("+x+")")
}

// query is a whole statement; its rows are texts or numbers, in an order that it says.
func (d dialects) query() string {
	switch d.r.Intn(5) {
	case 0:
		c := d.condition(2)
		return "SELECT id, CASE WHEN " + c + " THEN 1 WHEN NOT (" + c + ") THEN 0 END FROM t ORDER BY id"
	case 1:
		return "SELECT id, " + d.text(3) + " FROM t ORDER BY id"
	case 2:
		order := d.pick("a", "b DESC", "dt", "s", "a DESC NULLS LAST") + ", id"
		call := d.pick("ROW_NUMBER()", "NTILE(4)", "RANK()", "COUNT(a)", "SUM(b)", "MAX(a)", "LAG(id)", "LEAD(b)", "DENSE_RANK()")
		return "SELECT id, " + call + " OVER (" + d.pick("", "PARTITION BY s ", "PARTITION BY MOD(id, 3.0) ") + "ORDER BY " + order + ") FROM t ORDER BY id"
	case 3:
		by := d.pick("s", "MOD(id, 4.0)", "EXTRACT(MONTH FROM dt)")
		return "SELECT " + by + ", COUNT(*), COUNT(a), SUM(" + d.number(2) + "), MIN(b), MAX(dt) - MIN(dt) FROM t WHERE " + d.condition(1) +
			" GROUP BY " + by + " HAVING COUNT(*) > 1 ORDER BY " + by
	}
	return "SELECT id, " + d.number(3) + " FROM t ORDER BY id"
}

const expressions = 4000

// TestAgainstPostgres runs random statements here and in PostgreSQL, which agree about them.
func TestAgainstPostgres(t *testing.T) {
	pg := startPostgres(t)
	_, s := open(t, Config{})
	ctx := context.Background()
	r := rand.New(rand.NewSource(11))
	run(t, s, "CREATE TABLE t (id NUMBER, a NUMBER, b NUMBER, s VARCHAR2(20), dt DATE)")
	if _, err := pg.Exec(ctx, `CREATE TABLE t (id numeric, a numeric, b numeric, s text COLLATE "C", dt date)`); err != nil {
		t.Fatal(err)
	}
	for i := range 24 {
		values := fmt.Sprintf("INSERT INTO t VALUES (%d, %s, %.2f, '%s', DATE '20%02d-%02d-15')", i+1,
			[]string{"NULL", "2.5", "-7", "100", "0"}[r.Intn(5)], r.Float64()*20-10, []string{"abx", "Zeta", "b", "xylo"}[r.Intn(4)], r.Intn(30), 1+r.Intn(12))
		run(t, s, values)
		if _, err := pg.Exec(ctx, values); err != nil {
			t.Fatal(err)
		}
	}
	d := dialects{r}
	for range expressions {
		query := d.query()
		got, err := s.Query(ctx, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		want := postgresRows(t, pg, query)
		if g, w := canonical(got), canonical(want); g != w {
			t.Fatalf("%s:\ngot  %s\nwant %s", query, g, w)
		}
	}
}

func startPostgres(t *testing.T) *pgx.Conn {
	t.Helper()
	db := ledgertest.New(t)
	pg, err := pgx.Connect(context.Background(), db.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pg.Close(context.Background()) })
	return pg
}

func postgresRows(t *testing.T, pg *pgx.Conn, query string) [][]string {
	t.Helper()
	rows, err := pg.Query(context.Background(), query, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var list [][]string
	for rows.Next() {
		var row []string
		for _, v := range rows.RawValues() {
			text := ora.NullText
			if v != nil {
				text = string(v)
			}
			row = append(row, text)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return list
}

// canonical writes rows so that equal numbers are equal texts.
func canonical(rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		for _, v := range row {
			if n, err := ora.ParseNum(v); err == nil {
				if n, err = n.Significant(30); err == nil {
					v = n.String()
				}
			}
			b.WriteString(v + "|")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
