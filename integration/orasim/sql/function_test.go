package sql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// TestFunctionsTakeAnything calls every function with every mixture of argument types: each is a value or an
// ORA error, never ORA-00600.
func TestFunctionsTakeAnything(t *testing.T) {
	_, s := open(t, Config{})
	args := []string{`NULL`, `1.5`, `-3`, `1e125`, `'x'`, `'12'`, `'점검 text'`, `N'점'`, `DATE '2026-09-28'`, `TIMESTAMP '2026-09-28 01:02:03.5'`,
		`TIMESTAMP '2026-09-28 01:02:03 +09:00'`, `HEXTORAW('00FF')`, `1.5d`, `2f`, `INTERVAL '1' DAY`, `INTERVAL '1' MONTH`, `TO_CLOB('c')`, `DATE '9999-12-31'`,
		`CAST('a' AS CHAR(3))`, `CHARTOROWID('AAARHuAAEAAAACDAAA')`}
	try := func(expr string) {
		_, err := s.Query(context.Background(), "SELECT "+expr+" FROM DUAL")
		if e := (*ora.Error)(nil); errors.As(err, &e) && e.Code == 600 {
			t.Errorf("%s: %v", expr, strings.SplitN(e.Text, "\n", 2)[0])
		}
	}
	for name, fn := range s.db.functions {
		for _, a := range args {
			if fn.min <= 1 {
				try(fmt.Sprintf("%s(%s)", name, a))
			}
			for _, b := range args {
				if fn.min <= 2 && fn.max != 1 && fn.max != 0 {
					try(fmt.Sprintf("%s(%s, %s)", name, a, b))
				}
				if fn.max < 0 || fn.max >= 3 {
					try(fmt.Sprintf("%s(%s, %s, %s)", name, a, b, a))
				}
			}
		}
	}
	for _, a := range args {
		for _, b := range args {
			for _, op := range []string{"+", "-", "*", "/", "||"} {
				try(a + op + b)
			}
			try(fmt.Sprintf("CASE WHEN %s < %s THEN %s ELSE %s END", a, b, a, b))
			try(fmt.Sprintf("CASE WHEN %s LIKE %s THEN 1 END", a, b))
			try(fmt.Sprintf("CASE WHEN %s IN (SELECT %s FROM DUAL) THEN 1 END", a, b))
			try(fmt.Sprintf("(SELECT %s FROM DUAL UNION SELECT %s FROM DUAL)", a, b))
		}
		for _, typ := range []string{"NUMBER(3)", "FLOAT(5)", "VARCHAR2(2)", "NVARCHAR2(2)", "CHAR(4)", "DATE", "TIMESTAMP(3)", "TIMESTAMP WITH TIME ZONE",
			"TIMESTAMP WITH LOCAL TIME ZONE", "RAW(4)", "BINARY_FLOAT", "BINARY_DOUBLE", "CLOB", "BLOB", "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH", "ROWID"} {
			try(fmt.Sprintf("CAST(%s AS %s)", a, typ))
		}
		for _, agg := range []string{"SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT(DISTINCT %s)--"} {
			if strings.Contains(agg, "%s") {
				try(fmt.Sprintf("COUNT(DISTINCT %s)", a))
			} else {
				try(fmt.Sprintf("%s(%s)", agg, a))
			}
		}
	}
}

// TestTypesRoundTrip stores the limits of every type and reads them back, also through a view of a subquery.
func TestTypesRoundTrip(t *testing.T) {
	_, s := open(t, Config{Zone: 540})
	for _, c := range []struct{ typ, value, want string }{
		{"NUMBER", "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"}, {"NUMBER", "-1e-130", "-0." + strings.Repeat("0", 129) + "1"},
		{"NUMBER(38)", "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"}, {"NUMBER(5,-2)", "1250", "1300"}, {"NUMBER(2,4)", "0.00994", "0.0099"},
		{"FLOAT(10)", "123.456", "123.5"}, {"INTEGER", "1.5", "2"}, {"VARCHAR2(3 CHAR)", "'점검일'", "점검일"}, {"CHAR(4)", "'ab'", "ab  "}, {"NCHAR(3)", "'점'", "점  "},
		{"NVARCHAR2(5)", "N'a€점'", "a€점"}, {"DATE", "DATE '-4712-01-01'", "-4712-01-01 00:00:00"}, {"DATE", "TO_DATE('9999-12-31 23:59:59','YYYY-MM-DD HH24:MI:SS')", "9999-12-31 23:59:59"},
		{"TIMESTAMP(6)", "TIMESTAMP '2026-09-28 01:02:03.1234565'", "2026-09-28 01:02:03.123457"}, {"TIMESTAMP(0)", "TIMESTAMP '2026-12-31 23:59:59.5'", "2027-01-01 00:00:00"},
		{"TIMESTAMP(9)", "TIMESTAMP '2026-09-28 01:02:03.000000001'", "2026-09-28 01:02:03.000000001"},
		{"TIMESTAMP WITH TIME ZONE", "TIMESTAMP '2026-09-28 01:02:03 -03:30'", "2026-09-28 01:02:03-03:30"}, {"TIMESTAMP WITH LOCAL TIME ZONE", "TIMESTAMP '2026-09-28 09:00:00'", "2026-09-28 00:00:00"},
		{"RAW(3)", "HEXTORAW('00FF7F')", "00FF7F"}, {"BINARY_FLOAT", "1.1f", "1.1"}, {"BINARY_DOUBLE", "-1.7976931348623157e308d", "-1.7976931348623157e+308"},
		{"CLOB", "'long'", "long"}, {"BLOB", "HEXTORAW('01')", "01"}, {"VARCHAR2(1)", "''", `\N`}, {"NUMBER", "NULL", `\N`}, {"VARCHAR2(10)", "1/4", ".25"}, {"DATE", "'28-SEP-26'", "2026-09-28 00:00:00"},
		{"INTERVAL DAY TO SECOND", "INTERVAL '-1 02:03:04.5' DAY TO SECOND", "-93784.500000000 seconds"}, {"INTERVAL YEAR TO MONTH", "INTERVAL '2-3' YEAR TO MONTH", "27 months"},
		{"INTERVAL DAY TO SECOND(3)", "INTERVAL '-1 23:59:59.9996' DAY TO SECOND", "-172800.000000000 seconds"}, {"BINARY_DOUBLE", "BINARY_DOUBLE_INFINITY", "+Inf"}, {"BINARY_FLOAT", "BINARY_FLOAT_NAN", "NaN"},
		{"NUMBER", "POWER(10, -130)", "0." + strings.Repeat("0", 129) + "1"}, {"CHARACTER VARYING(5)", "'ab'", "ab"}, {"NATIONAL CHARACTER(3)", "'ab'", "ab "}, {"RAW(9)", "UTL_RAW.CAST_TO_RAW('DVT')", "445654"},
	} {
		run(t, s, `CREATE TABLE r (a `+c.typ+`)`, `INSERT INTO r VALUES (`+c.value+`)`, `COMMIT`)
		if got := rowsOf(t, s, `SELECT a FROM r`); got != c.want {
			t.Errorf("%s <- %s: got %q, want %q", c.typ, c.value, got, c.want)
		}
		if got := rowsOf(t, s, `SELECT b FROM (SELECT a b, ROWNUM n FROM r) WHERE n = 1`); got != c.want {
			t.Errorf("%s in a subquery: got %q, want %q", c.typ, got, c.want)
		}
		run(t, s, `DROP TABLE r`)
	}
}
