package sql

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// open starts an instance and a session of SYSTEM.
func open(t *testing.T, cfg Config) (*Database, *Session) {
	t.Helper()
	d := New(cfg)
	return d, login(t, d, "SYSTEM")
}

func login(t *testing.T, d *Database, user string) *Session {
	t.Helper()
	s, err := d.Open(loginAs(user))
	if err != nil {
		t.Fatalf("login %s: %v", user, err)
	}
	t.Cleanup(s.Close)
	return s
}

func loginAs(user string) ora.Login {
	return ora.Login{User: user, Service: "orasimpdb1", Program: "test", Machine: "host"}
}

// run executes statements that must succeed.
func run(t *testing.T, s *Session, statements ...string) {
	t.Helper()
	for _, text := range statements {
		if _, err := s.Run(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
}

// rowsOf is a query's rows, values joined by "|", rows by newline.
func rowsOf(t *testing.T, s *Session, text string) string {
	t.Helper()
	list, err := s.Query(context.Background(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	lines := make([]string, len(list))
	for i, row := range list {
		lines[i] = strings.Join(row, "|")
	}
	return strings.Join(lines, "\n")
}

// codeOf is the ORA code of an error, 0 for none.
func codeOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var e *ora.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %T %v, want an *ora.Error", err, err)
	}
	return e.Code
}

func TestExpressions(t *testing.T) {
	_, s := open(t, Config{})
	for _, c := range []struct{ expr, want string }{
		{"1+2*3", "7"}, {"1/3", "0.3333333333333333333333333333333333333333"}, {"-2.5", "-2.5"}, {"'a'||NULL||'b'", "ab"},
		{"''", `\N`}, {"NVL('', 'x')", "x"}, {"COALESCE(NULL, 2, 3)", "2"}, {"NULLIF(1,1)", `\N`}, {"NULLIF(1,2)", "1"},
		{"DECODE(2,1,'a',2,'b','c')", "b"}, {"DECODE(NULL,NULL,'n','x')", "n"}, {"DECODE(3,1,'a')", `\N`},
		{"CASE WHEN 1=2 THEN 'x' ELSE 'y' END", "y"}, {"CASE 2 WHEN 1 THEN 'x' WHEN 2 THEN 'z' END", "z"},
		{"CASE WHEN NULL = NULL THEN 1 ELSE 0 END", "0"}, {"CASE WHEN NOT (NULL = 1) THEN 1 ELSE 0 END", "0"},
		{"GREATEST(1,5,3)", "5"}, {"LEAST('b','a')", "a"}, {"ROUND(2.5)", "3"}, {"ROUND(-2.567, 2)", "-2.57"}, {"TRUNC(2.99)", "2"},
		{"MOD(-7,3)", "-1"}, {"FLOOR(-1.5)", "-2"}, {"CEIL(1.2)", "2"}, {"ABS(-3)", "3"}, {"SIGN(-3)", "-1"}, {"POWER(2,10)", "1024"},
		{"SUBSTR('abcdef',2,3)", "bcd"}, {"SUBSTR('abcdef',-2)", "ef"}, {"SUBSTR('abc',5)", `\N`}, {"INSTR('banana','an',1,2)", "4"},
		{"UPPER('äb')", "ÄB"}, {"TRIM('  x ')", "x"}, {"TRIM(LEADING '0' FROM '007')", "7"}, {"RTRIM('xyyy','y')", "x"},
		{"LPAD('7',3,'0')", "007"}, {"REPLACE('aXbX','X')", "ab"}, {"LENGTH('점검')", "2"}, {"LENGTHB('점검')", "6"}, {"LENGTH('')", `\N`},
		{"TRANSLATE('12-34','0123456789-','0123456789')", "1234"}, {"CHR(65)", "A"}, {"ASCII('A')", "65"}, {"INITCAP('ab cd')", "Ab Cd"},
		{"TO_CHAR(1234.5)", "1234.5"}, {"TO_CHAR(0.5)", ".5"}, {"TO_CHAR(1234.5,'9,999.99')", " 1,234.50"}, {"TO_CHAR(-7,'FM000')", "-007"},
		{"TO_CHAR(5,'FM999990.00')", "5.00"}, {"TO_CHAR(12345,'999')", "####"}, {"TO_CHAR(255,'XX')", " FF"}, {"TO_CHAR(0,'9.9')", "  .0"},
		{"TO_CHAR(123456789012345678901234567890,'TM9')", "123456789012345678901234567890"}, {"TO_CHAR(12,'99MI')", "12 "}, {"TO_CHAR(-12,'99PR')", "<12>"},
		{"TO_NUMBER('1,234.50','9,999.99')", "1234.5"}, {"TO_NUMBER(' 12 ')", "12"},
		{"TO_CHAR(DATE '2026-09-28','YYYY-MM-DD HH24:MI:SS')", "2026-09-28 00:00:00"}, {"TO_CHAR(DATE '2026-09-28','FMDay, DD Month YYYY')", "Monday, 28 September 2026"},
		{"TO_CHAR(DATE '2026-01-01','IYYY-IW D DDD Q J')", "2026-01 5 001 1 2461042"}, {"TO_CHAR(DATE '2026-09-28')", "28-SEP-26"},
		{"TO_CHAR(TIMESTAMP '2026-09-28 13:04:05.123456','HH12:MI:SS.FF3 AM')", "01:04:05.123 PM"},
		{"TO_DATE('28.09.2026 13:04','DD.MM.YYYY HH24:MI')", "2026-09-28 13:04:00"}, {"TO_DATE('20260928','YYYYMMDD')", "2026-09-28 00:00:00"},
		{"TO_DATE('28-SEP-99','DD-MON-RR')", "1999-09-28 00:00:00"}, {"TO_DATE('1582-10-05','YYYY-MM-DD')", "1582-10-15 00:00:00"},
		{"TO_TIMESTAMP('2026-09-28 01:02:03.5','YYYY-MM-DD HH24:MI:SS.FF')", "2026-09-28 01:02:03.5"},
		{"DATE '2026-09-28' + 1.5", "2026-09-29 12:00:00"}, {"DATE '2026-10-01' - DATE '2026-09-28'", "3"}, {"DATE '-4712-01-01'", "-4712-01-01 00:00:00"},
		{"TRUNC(TO_DATE('2026-09-28 13','YYYY-MM-DD HH24'))", "2026-09-28 00:00:00"}, {"TRUNC(DATE '2026-09-28','MM')", "2026-09-01 00:00:00"},
		{"TRUNC(DATE '2026-09-28','Q')", "2026-07-01 00:00:00"}, {"TRUNC(DATE '2026-09-30','IW')", "2026-09-28 00:00:00"}, {"ROUND(DATE '2026-09-16','MM')", "2026-10-01 00:00:00"},
		{"ADD_MONTHS(DATE '2026-01-31',1)", "2026-02-28 00:00:00"}, {"LAST_DAY(DATE '2024-02-01')", "2024-02-29 00:00:00"},
		{"MONTHS_BETWEEN(DATE '2026-03-31',DATE '2026-02-28')", "1"}, {"EXTRACT(YEAR FROM DATE '2026-09-28')", "2026"},
		{"EXTRACT(SECOND FROM TIMESTAMP '2026-09-28 01:02:03.25')", "3.25"}, {"DATE '2026-09-28' + INTERVAL '1 02:00:00' DAY TO SECOND", "2026-09-29 02:00:00"},
		{"DATE '2026-01-15' + INTERVAL '1-2' YEAR TO MONTH", "2027-03-15 00:00:00"}, {"NEXT_DAY(DATE '2026-09-28','FRI')", "2026-10-02 00:00:00"},
		{"CAST('12' AS NUMBER(5,1))", "12"}, {"CAST(1.25 AS NUMBER(5,1))", "1.3"}, {"CAST('abc' AS VARCHAR2(2))", "ab"}, {"CAST('a' AS CHAR(3))", "a  "},
		{"CAST(DATE '2026-09-28' AS TIMESTAMP)", "2026-09-28 00:00:00"}, {"CAST(TIMESTAMP '2026-09-28 10:00:00.7' AS DATE)", "2026-09-28 10:00:00"},
		{"1.5f + 1", "2.5"}, {"q'[it's]'", "it's"}, {"N'점'", "점"}, {"RAWTOHEX(HEXTORAW('0aff'))", "0AFF"}, {"TO_CHAR(1.5d)", "1.5E+000"},
		{"TIMESTAMP '2026-09-28 10:00:00 +09:00' AT TIME ZONE 'UTC'", "2026-09-28 01:00:00+00:00"},
		{"SYS_EXTRACT_UTC(TIMESTAMP '2026-09-28 10:00:00 +09:00')", "2026-09-28 01:00:00"}, {"(SELECT COUNT(*) FROM DUAL)", "1"},
		{"USER", "SYSTEM"}, {"SYS_CONTEXT('USERENV','CON_NAME')", "ORASIMPDB1"}, {"((SELECT 1 FROM DUAL)+1)", "2"}, {"'a b' /*+ hint */ -- c\n", "a b"},
	} {
		if got := rowsOf(t, s, "SELECT "+c.expr+" FROM DUAL"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.expr, got, c.want)
		}
	}
}
