package sql

import (
	"context"
	"testing"
)

// TestKindsOfColumns covers invisible, virtual and identity columns.
func TestKindsOfColumns(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, `CREATE TABLE kc (id NUMBER GENERATED ALWAYS AS IDENTITY (START WITH 5), a NUMBER, secret VARCHAR2(9) INVISIBLE,
		twice NUMBER GENERATED ALWAYS AS (a * 2) VIRTUAL, n NUMBER DEFAULT ON NULL 7, label AS ('#' || a))`,
		"INSERT INTO kc (a, secret, n) VALUES (1, 's', NULL)", "INSERT INTO kc (a, n) VALUES (2, 3)", "COMMIT",
		"UPDATE kc SET a = 10 WHERE id = 6")
	for _, c := range []struct{ query, want string }{
		{"SELECT * FROM kc ORDER BY id", "5|1|2|7|#1\n6|10|20|3|#10"},
		{"SELECT id, secret FROM kc WHERE secret IS NOT NULL", "5|s"},
		{"SELECT id FROM kc WHERE twice = 20", "6"},
		{"SELECT COLUMN_NAME, COLUMN_ID, IDENTITY_COLUMN, DEFAULT_ON_NULL FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'KC' AND COLUMN_NAME IN ('ID', 'SECRET', 'N')",
			`ID|1|YES|NO` + "\n" + `SECRET|\N|NO|NO` + "\n" + `N|4|NO|YES`},
		{"SELECT COLUMN_NAME, HIDDEN_COLUMN, VIRTUAL_COLUMN FROM USER_TAB_COLS WHERE TABLE_NAME = 'KC' AND 'YES' IN (HIDDEN_COLUMN, VIRTUAL_COLUMN)",
			"SECRET|YES|NO\nTWICE|NO|YES\nLABEL|NO|YES"},
		{"SELECT GENERATION_TYPE FROM USER_TAB_IDENTITY_COLS WHERE TABLE_NAME = 'KC'", "ALWAYS"},
		{"SELECT HAS_IDENTITY FROM USER_TABLES WHERE TABLE_NAME = 'KC'", "YES"},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
	for text, code := range map[string]int{
		"INSERT INTO kc (id, a) VALUES (1, 1)": 32795, "UPDATE kc SET id = 1": 32796,
		"INSERT INTO kc (twice) VALUES (1)": 54013, "UPDATE kc SET twice = 1": 54017,
	} {
		if _, err := s.Run(context.Background(), text); codeOf(t, err) != code {
			t.Errorf("%s: got %v, want ORA-%05d", text, err, code)
		}
	}
	run(t, s, "CREATE TABLE v (a NUMBER, b NUMBER, c NUMBER)", "INSERT INTO v VALUES (1, 2, 3)", "COMMIT", "ALTER TABLE v MODIFY b INVISIBLE")
	if got := rowsOf(t, s, "SELECT * FROM v"); got != "1|3" {
		t.Errorf("b is invisible: got %s", got)
	}
	run(t, s, "ALTER TABLE v MODIFY b VISIBLE", "INSERT INTO v VALUES (4, 6, 5)")
	if got := rowsOf(t, s, "SELECT * FROM v ORDER BY a"); got != "1|3|2\n4|6|5" {
		t.Errorf("b is last: got %s", got)
	}
}

// TestKindsOfTables covers tables that the dictionary tells apart from a heap.
func TestKindsOfTables(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE iot (k NUMBER PRIMARY KEY, d VARCHAR2(50)) ORGANIZATION INDEX INCLUDING d OVERFLOW",
		"INSERT INTO iot VALUES (1, 'x')", "COMMIT",
		`CREATE GLOBAL TEMPORARY TABLE "#T" (id NUMBER) ON COMMIT PRESERVE ROWS`,
		"CREATE TABLE ext (a NUMBER) ORGANIZATION EXTERNAL (TYPE ORACLE_LOADER DEFAULT DIRECTORY d ACCESS PARAMETERS (RECORDS DELIMITED BY NEWLINE) LOCATION ('f.csv')) REJECT LIMIT UNLIMITED",
		"CREATE TYPE obj AS OBJECT (id NUMBER, lvl NUMBER)", "CREATE TYPE tab AS TABLE OF VARCHAR2(128)",
		"CREATE TABLE objs OF obj (PRIMARY KEY (id))", "CREATE TABLE docs OF XMLTYPE",
		"CREATE TABLE odd (k NUMBER PRIMARY KEY, x XMLTYPE, g SDO_GEOMETRY, f BFILE, c tab, u UROWID) NESTED TABLE c STORE AS odd_nt",
		"CREATE TABLE lobs (a CLOB, b BLOB) LOB (a, b) STORE AS BASICFILE (DISABLE STORAGE IN ROW)")
	for _, c := range []struct{ query, want string }{
		{"SELECT * FROM iot", "1|x"},
		{"SELECT TABLE_NAME, IOT_TYPE, TEMPORARY, DURATION, EXTERNAL FROM USER_TABLES WHERE TABLE_NAME IN ('IOT', '#T', 'EXT') ORDER BY 1",
			`#T|\N|Y|SYS$SESSION|NO` + "\n" + `EXT|\N|N|\N|YES` + "\n" + `IOT|IOT|N|\N|NO`},
		{"SELECT COUNT(*) FROM USER_SEGMENTS WHERE SEGMENT_NAME IN ('IOT', '#T', 'EXT')", "0"},
		{"SELECT COUNT(*) FROM USER_TABLES WHERE TABLE_NAME IN ('OBJS', 'DOCS')", "0"},
		{"SELECT TABLE_NAME, TABLE_TYPE_OWNER, TABLE_TYPE FROM USER_OBJECT_TABLES ORDER BY 1", "DOCS|SYS|XMLTYPE\nOBJS|SYSTEM|OBJ"},
		{"SELECT COLUMN_NAME, DATA_TYPE, DATA_TYPE_OWNER FROM USER_TAB_COLUMNS WHERE TABLE_NAME = 'ODD' AND COLUMN_NAME <> 'K' ORDER BY COLUMN_ID",
			"X|XMLTYPE|SYS\nG|SDO_GEOMETRY|MDSYS\nF|BFILE|\\N\nC|TAB|SYSTEM\nU|UROWID|\\N"},
		{"SELECT TYPE_NAME, TYPECODE FROM USER_TYPES ORDER BY 1", "OBJ|OBJECT\nTAB|COLLECTION"},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
	for text, code := range map[string]int{
		"SELECT * FROM ext": 29913, `INSERT INTO "#T" VALUES (1)`: 3001, "CREATE TABLE x (a NOSUCH)": 902, "CREATE TABLE x (a NUMBER) ORGANIZATION INDEX": 25175,
	} {
		if _, err := s.Run(context.Background(), text); codeOf(t, err) != code {
			t.Errorf("%s: got %v, want ORA-%05d", text, err, code)
		}
	}
}
