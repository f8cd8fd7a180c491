package config

import (
	"strings"
	"testing"
)

func TestExpressionAccepts(t *testing.T) {
	for in, want := range map[string]string{
		"INSP_DT >= :date AND INSP_DT < :DATE + 1": "INSP_DT >= DATE '2026-09-28' AND INSP_DT < DATE '2026-09-28' + 1",
		"KEY = :key":                        "KEY = '2026-09-28'",
		"NOTE = ':date; -- /* SELECT'":      "NOTE = ':date; -- /* SELECT'",
		"NOTE <> 'it''s'":                   "NOTE <> 'it''s'",
		"NOTE = q'[it's; :key]' AND A = 1":  "NOTE = q'[it's; :key]' AND A = 1",
		"NOTE = nq'!a'b!'":                  "NOTE = nq'!a'b!'",
		"NOTE = N'금액'":                      "NOTE = N'금액'",
		`"SELECT" = 1 AND "semi;colon" = 2`: `"SELECT" = 1 AND "semi;colon" = 2`,
		"A IN (1, (2), 3) AND (B = -1.5e3)": "A IN (1, (2), 3) AND (B = -1.5e3)",
		"EXTRACT(YEAR FROM D) = 2026":       "EXTRACT(YEAR FROM D) = 2026",
		"CASE WHEN A = 1 THEN 1 END = 1":    "CASE WHEN A = 1 THEN 1 END = 1",
		"UPDATED_AT > DATE'2026-01-01'":     "UPDATED_AT > DATE'2026-01-01'",
		"A - -1 = 2 / 3 * 4":                "A - -1 = 2 / 3 * 4",
		"금액 > 0 AND A$B#C_1 != 2\n AND C=1": "금액 > 0 AND A$B#C_1 != 2\n AND C=1",
	} {
		var e Expression
		if err := e.UnmarshalText([]byte(in)); err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := e.Render(date(t, "2026-09-28")); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
		if e.String() != in {
			t.Errorf("text of %s is %s", in, e)
		}
	}
}

func TestExpressionRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"A = 1; DROP TABLE t":              "a ; at character 6",
		"A = 1 -- more":                    "a comment at character 7",
		"A = 1 /* more */":                 "a comment at character 7",
		"A = 1 */ B":                       "a comment at character 7",
		"A IN (SELECT B FROM c)":           "SELECT at character 7",
		"A = 1 union all":                  "UNION at character 7",
		"A = 1 ORDER BY B":                 "ORDER at character 7",
		"A = 1 FOR UPDATE":                 "FOR at character 7",
		"WHERE A = 1":                      "WHERE at character 1",
		"A = 'x":                           "the quote at character 5 is not closed",
		"A = 'x''":                         "the quote at character 5 is not closed",
		`A = "x`:                           "the double quote at character 5 is not closed",
		`A = ""`:                           "the double quote at character 5 is not closed",
		"A = q'[x'":                        "the quote at character 6 is not closed by ]'",
		"(A = 1":                           "the ( at character 1 is not closed",
		"A = 1) OR (1 = 1":                 "the ) at character 6 closes nothing",
		"A = :dates":                       `":dates" at character 5 is no placeholder`,
		"A := 1":                           `":" at character 3 is no placeholder`,
		"A = {date}":                       "'{' at character 5",
		"A = ?":                            "'?' at character 5",
		"A = t@link":                       "'@' at character 6",
		"A = &x":                           "'&' at character 5",
		"금액\u00a0= 1":                      `'\u00a0' at character 3`,
		"":                                 "an empty condition",
		"D >= TRUNC(SYSDATE) - 1":          "SYSDATE at character 12 differs",
		"ROWNUM < 10":                      "ROWNUM at character 1 differs",
		"A = 1 AND BEGIN = 2":              "BEGIN at character 11",
		"A = S.NEXTVAL":                    "NEXTVAL at character 7 differs",
		"A = DBMS_RANDOM.VALUE AND 'x'='y": "the quote at character 31",
	} {
		var e Expression
		err := e.UnmarshalText([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", in, err, want)
		}
	}
}

func TestSessionStatement(t *testing.T) {
	for in, want := range map[string]string{
		"ALTER SESSION DISABLE PARALLEL QUERY":                 "",
		`alter session set "_serial_direct_read" = never`:      "",
		"ALTER SESSION SET cell_offload_processing = 'x;y'":    "",
		"ALTER SESSION SET A = 1; DROP TABLE t":                "a ; at character 24",
		"ALTER SYSTEM SET A = 1":                               "only ALTER SESSION",
		"ALTER SESSION":                                        "only ALTER SESSION",
		"DROP TABLE t":                                         "only ALTER SESSION",
		"ALTER SESSION SET A = :date":                          "has no place",
		"ALTER SESSION SET A = 1 /* x */":                      "has no place",
		"ALTER SESSION SET NLS_DATE_FORMAT = 'YYYY'":           "NLS_DATE_FORMAT is set by loadctl itself",
		"ALTER SESSION SET time_zone = '+09:00'":               "TIME_ZONE is set by loadctl itself",
		"ALTER SESSION SET A = 1 CURRENT_SCHEMA = other":       "write the schema in source.table",
		"ALTER SESSION SET CONTAINER = PDB2":                   "CONTAINER is set by loadctl itself",
		`ALTER SESSION SET "NLS_SORT" = BINARY`:                "NLS_SORT is set by loadctl itself",
		"ALTER SESSION SET EVENTS '10046 trace name context'":  "",
		"ALTER SESSION SET optimizer_index_cost_adj = 50 -- x": "has no place",
	} {
		var s SessionStatement
		err := s.UnmarshalText([]byte(in))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}
