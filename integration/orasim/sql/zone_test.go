package sql

import (
	"context"
	"testing"
)

func TestRegionsInSQL(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "ALTER SESSION SET TIME_ZONE = 'Europe/Berlin'",
		"ALTER SESSION SET NLS_TIMESTAMP_TZ_FORMAT = 'YYYY-MM-DD HH24:MI:SS TZR TZD'",
		"CREATE TABLE z (k NUMBER, l TIMESTAMP WITH LOCAL TIME ZONE, t TIMESTAMP WITH TIME ZONE)",
		"INSERT INTO z VALUES (1, TIMESTAMP '2026-07-01 12:00:00', TIMESTAMP '2026-07-01 12:00:00 US/Pacific')",
		"INSERT INTO z VALUES (2, TIMESTAMP '2026-01-01 12:00:00', FROM_TZ(TIMESTAMP '2026-01-01 12:00:00', 'Asia/Seoul'))", "COMMIT")
	for _, c := range []struct{ query, want string }{
		{"SELECT SESSIONTIMEZONE FROM DUAL", "Europe/Berlin"},
		{"SELECT SYS_EXTRACT_UTC(l) FROM z ORDER BY k", "2026-07-01 10:00:00\n2026-01-01 11:00:00"},
		{"SELECT TO_CHAR(l, 'HH24:MI TZH:TZM') FROM z ORDER BY k", "12:00 +02:00\n12:00 +01:00"},
		{"SELECT TO_CHAR(t) FROM z ORDER BY k", "2026-07-01 12:00:00 US/Pacific PDT\n2026-01-01 12:00:00 Asia/Seoul KST"},
		{"SELECT TO_CHAR(t AT TIME ZONE 'Asia/Seoul') FROM z WHERE k = 1", "2026-07-02 04:00:00 Asia/Seoul KST"},
		{"SELECT TO_CHAR(t AT LOCAL) FROM z WHERE k = 1", "2026-07-01 21:00:00 Europe/Berlin CEST"},
		{"SELECT COUNT(*) FROM z WHERE t = TIMESTAMP '2026-07-01 19:00:00 +00:00'", "1"},
		// A day of 23 hours: adding hours passes the change, adding months keeps the clock.
		{"SELECT TO_CHAR(TIMESTAMP '2026-03-29 00:30:00 Europe/Berlin' + INTERVAL '2' HOUR) FROM DUAL", "2026-03-29 03:30:00 Europe/Berlin CEST"},
		{"SELECT TO_CHAR(TIMESTAMP '2026-02-28 03:30:00 Europe/Berlin' + INTERVAL '1' MONTH) FROM DUAL", "2026-03-28 03:30:00 Europe/Berlin CET"},
		{"SELECT TO_CHAR(TO_TIMESTAMP_TZ('2009-02-21 18:00:00 EST','YYYY-MM-DD HH24:MI:SS TZR'), 'TZH') FROM DUAL", "-05"},
		{"SELECT (TIMESTAMP '2026-03-29 12:00:00 Europe/Berlin' - TIMESTAMP '2026-03-28 12:00:00 Europe/Berlin') FROM DUAL", "82800.000000000 seconds"},
		{"SELECT CAST(t AS TIMESTAMP WITH LOCAL TIME ZONE) FROM z WHERE k = 1", "2026-07-01 19:00:00"},
		{"SELECT SYS_EXTRACT_UTC(TIMESTAMP '2025-11-02 01:30:00 America/New_York EDT') FROM DUAL", "2025-11-02 05:30:00"},
		{"SELECT SYS_EXTRACT_UTC(TO_TIMESTAMP_TZ('2025-11-02 01:30:00 America/New_York EST', 'YYYY-MM-DD HH24:MI:SS TZR TZD')) FROM DUAL", "2025-11-02 06:30:00"},
		{"SELECT CAST(t AS DATE) FROM z WHERE k = 1", "2026-07-01 12:00:00"},
		{"SELECT TO_CHAR(CAST(DATE '2026-07-01' AS TIMESTAMP WITH TIME ZONE)) FROM DUAL", "2026-07-01 00:00:00 Europe/Berlin CEST"},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
	for text, code := range map[string]int{
		"SELECT TIMESTAMP '2026-03-29 02:30:00 Europe/Berlin' FROM DUAL":            1878,
		"INSERT INTO z (l) VALUES (TIMESTAMP '2026-03-29 02:30:00')":                1878,
		"SELECT FROM_TZ(TIMESTAMP '2026-01-01 00:00:00', 'Mars/Olympus') FROM DUAL": 1882,
		"ALTER SESSION SET TIME_ZONE = 'Mars/Olympus'":                              1882,
	} {
		if _, err := s.Run(context.Background(), text); codeOf(t, err) != code {
			t.Errorf("%s: got %v, want ORA-%05d", text, err, code)
		}
	}
}
