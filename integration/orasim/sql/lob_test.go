package sql

import "testing"

// TestEmptyLobs checks that an empty LOB is a value, and an empty text none.
func TestEmptyLobs(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE l (k NUMBER, c CLOB, b BLOB, n NCLOB)", "INSERT INTO l VALUES (1, EMPTY_CLOB(), EMPTY_BLOB(), EMPTY_CLOB())",
		"INSERT INTO l VALUES (2, '0123', HEXTORAW('4567'), TO_NCLOB('가'))", "INSERT INTO l VALUES (3, '', NULL, TO_CLOB(''))",
		"INSERT INTO l SELECT k + 3, c, b, n FROM l WHERE k = 1", "UPDATE l SET k = k + 0", "COMMIT",
		"CREATE TABLE m (c CLOB NOT NULL)", "INSERT INTO m VALUES (EMPTY_CLOB())")
	for _, c := range []struct{ query, want string }{
		{"SELECT * FROM l ORDER BY k", "1|||\n2|0123|4567|가\n3|\\N|\\N|\\N\n4|||"},
		{"SELECT COUNT(c), COUNT(b), COUNT(n) FROM l", "3|3|3"},
		{"SELECT k FROM l WHERE c IS NULL", "3"},
		{"SELECT LENGTH(c), DBMS_LOB.GETLENGTH(b), LENGTH(n) FROM l ORDER BY k", "0|0|0\n4|2|1\n\\N|\\N|\\N\n0|0|0"},
		{"SELECT TO_CHAR(c) FROM l WHERE k = 1", `\N`},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s: got %q, want %q", c.query, got, c.want)
		}
	}
}
