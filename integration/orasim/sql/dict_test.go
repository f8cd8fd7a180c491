package sql

import (
	"context"
	"strings"
	"testing"
)

func TestColumnsInDictionary(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, `CREATE TABLE "점검 표" (a NUMBER(10) PRIMARY KEY, b NUMBER(18,2) DEFAULT 1.5 NOT NULL, c NUMBER, d INTEGER, e FLOAT, f FLOAT(10), g VARCHAR2(10),
		h VARCHAR2(10 CHAR), i NVARCHAR2(10), j CHAR(3), k DATE, l TIMESTAMP, m TIMESTAMP(3) WITH TIME ZONE, n TIMESTAMP WITH LOCAL TIME ZONE, o RAW(16),
		p BINARY_FLOAT, q BINARY_DOUBLE, r CLOB, s BLOB, t INTERVAL DAY(3) TO SECOND(2), u INTERVAL YEAR TO MONTH, "금액" NUMBER(*,3), w NUMBER(5,-2), x NCHAR(2), y LONG, z ROWID)`)
	got := rowsOf(t, s, `SELECT column_name, data_type, data_length, data_precision, data_scale, nullable, column_id, char_length, char_used, data_default
		FROM all_tab_columns WHERE owner = 'SYSTEM' AND table_name = '점검 표' ORDER BY column_id`)
	want := strings.Join([]string{
		`A|NUMBER|22|10|0|N|1|0|\N|\N`, `B|NUMBER|22|18|2|N|2|0|\N|1.5`, `C|NUMBER|22|\N|\N|Y|3|0|\N|\N`, `D|NUMBER|22|\N|0|Y|4|0|\N|\N`,
		`E|FLOAT|22|126|\N|Y|5|0|\N|\N`, `F|FLOAT|22|10|\N|Y|6|0|\N|\N`, `G|VARCHAR2|10|\N|\N|Y|7|10|B|\N`, `H|VARCHAR2|40|\N|\N|Y|8|10|C|\N`,
		`I|NVARCHAR2|20|\N|\N|Y|9|10|C|\N`, `J|CHAR|3|\N|\N|Y|10|3|B|\N`, `K|DATE|7|\N|\N|Y|11|0|\N|\N`, `L|TIMESTAMP(6)|11|\N|6|Y|12|0|\N|\N`,
		`M|TIMESTAMP(3) WITH TIME ZONE|13|\N|3|Y|13|0|\N|\N`, `N|TIMESTAMP(6) WITH LOCAL TIME ZONE|11|\N|6|Y|14|0|\N|\N`, `O|RAW|16|\N|\N|Y|15|0|\N|\N`,
		`P|BINARY_FLOAT|4|\N|\N|Y|16|0|\N|\N`, `Q|BINARY_DOUBLE|8|\N|\N|Y|17|0|\N|\N`, `R|CLOB|4000|\N|\N|Y|18|0|\N|\N`, `S|BLOB|4000|\N|\N|Y|19|0|\N|\N`,
		`T|INTERVAL DAY(3) TO SECOND(2)|11|3|2|Y|20|0|\N|\N`, `U|INTERVAL YEAR(2) TO MONTH|5|2|0|Y|21|0|\N|\N`, `금액|NUMBER|22|\N|3|Y|22|0|\N|\N`,
		`W|NUMBER|22|5|-2|Y|23|0|\N|\N`, `X|NCHAR|4|\N|\N|Y|24|2|C|\N`, `Y|LONG|0|\N|\N|Y|25|0|\N|\N`, `Z|ROWID|10|\N|\N|Y|26|0|\N|\N`,
	}, "\n")
	if got != want {
		t.Errorf("columns:\ngot\n%s\nwant\n%s", got, want)
	}
}

func TestDictionary(t *testing.T) {
	s := shop(t)
	run(t, s, `CREATE INDEX emp_name ON emp (name, dept_id)`, `CREATE VIEW names (who) AS SELECT name FROM emp`, `CREATE SYNONYM staff FOR emp`,
		`CREATE PUBLIC SYNONYM workers FOR app.emp`)
	for _, c := range []struct{ query, want string }{
		{`SELECT table_name FROM all_tables WHERE owner = 'APP' ORDER BY 1`, "DEPT\nEMP"},
		{`SELECT c.constraint_name, cc.column_name, cc.position FROM all_constraints c JOIN all_cons_columns cc ON cc.owner = c.owner AND cc.constraint_name = c.constraint_name
			WHERE c.owner = 'APP' AND c.table_name = 'EMP' AND c.constraint_type = 'P'`, "EMP_PK|ID|1"},
		{`SELECT COUNT(*) FROM all_constraints WHERE owner = 'APP' AND constraint_type = 'C' AND search_condition_vc = '"NAME" IS NOT NULL'`, "1"},
		{`SELECT i.index_name, i.uniqueness, c.column_name, c.column_position FROM all_indexes i, all_ind_columns c
			WHERE i.table_owner = 'APP' AND i.table_name = 'EMP' AND c.index_owner = i.owner AND c.index_name = i.index_name ORDER BY 1, 4`,
			"EMP_NAME|NONUNIQUE|NAME|1\nEMP_NAME|NONUNIQUE|DEPT_ID|2\nEMP_PK|UNIQUE|ID|1"},
		{`SELECT object_name, object_type FROM all_objects WHERE owner = 'APP' AND object_type <> 'INDEX' ORDER BY 1`, "DEPT|TABLE\nEMP|TABLE\nNAMES|VIEW\nSTAFF|SYNONYM"},
		{`SELECT text FROM all_views WHERE view_name = 'NAMES'`, "SELECT name FROM emp"}, {`SELECT column_name, data_type FROM all_tab_columns WHERE table_name = 'NAMES'`, "WHO|VARCHAR2"},
		{`SELECT who FROM names WHERE who = 'Ann'`, "Ann"}, {`SELECT COUNT(*) FROM staff`, "4"}, {`SELECT COUNT(*) FROM workers w WHERE w.id < 3`, "2"},
		{`SELECT table_owner, table_name FROM all_synonyms WHERE owner = 'PUBLIC'`, "APP|EMP"},
		{`SELECT hidden_column, virtual_column, identity_column, internal_column_id FROM all_tab_cols WHERE table_name = 'EMP' AND column_name = 'NAME'`, "NO|NO|NO|2"},
		{`SELECT COUNT(*) FROM user_tables`, "0"}, {`SELECT COUNT(*) FROM dba_tables WHERE owner = 'APP'`, "2"}, {`SELECT COUNT(*) FROM sys.dual`, "1"},
		{`SELECT name, db_unique_name, dbid, con_id FROM v$database`, "ORASIM|ORASIM|1450000001|3"}, {`SELECT name FROM sys.v_$database`, "ORASIM"},
		{`SELECT value FROM v$parameter WHERE name = 'undo_retention'`, "900"}, {`SELECT tuned_undoretention FROM v$undostat`, "900"},
		{`SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'`, "AL32UTF8"}, {`SELECT instance_name, status FROM v$instance`, "ORASIM|OPEN"},
		{`SELECT version FROM product_component_version`, "19.0.0.0.0"}, {`SELECT username, machine, serial# FROM v$session`, "SYSTEM|host|1"},
		{`SELECT COUNT(*) FROM all_tab_partitions`, "0"}, {`SELECT generated FROM all_constraints WHERE constraint_name = 'EMP_PK'`, "USER NAME"},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.query, got, c.want)
		}
	}
	if got := rowsOf(t, s, `SELECT COUNT(*) FROM v$database d WHERE d.current_scn = `+strings.TrimSpace(rowsOf(t, s, `SELECT dbms_flashback.get_system_change_number FROM DUAL`))); got != "1" {
		t.Error("CURRENT_SCN and GET_SYSTEM_CHANGE_NUMBER differ")
	}
}

// TestEveryDictionaryView reads each view to its end: the rows fit the columns.
func TestEveryDictionaryView(t *testing.T) {
	s := shop(t)
	run(t, s, `CREATE VIEW v AS SELECT * FROM emp`, `CREATE PUBLIC SYNONYM w FOR v`, `GRANT SELECT ON emp TO PUBLIC`)
	for name := range s.db.dictionary {
		if _, err := s.Query(context.Background(), `SELECT * FROM "`+name+`"`); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatAUserSees(t *testing.T) {
	s := shop(t)
	run(t, s, `CREATE USER etl IDENTIFIED BY x`, `GRANT CREATE SESSION TO etl`)
	etl := login(t, s.db, "ETL")
	if got := rowsOf(t, etl, `SELECT COUNT(*) FROM all_tables WHERE owner = 'APP'`); got != "0" {
		t.Errorf("before the grant: %s tables", got)
	}
	run(t, s, `GRANT SELECT ON app.emp TO etl`)
	if got := rowsOf(t, etl, `SELECT table_name FROM all_tables WHERE owner = 'APP'`); got != "EMP" {
		t.Errorf("after the grant: %q", got)
	}
	if got := failure(t, etl, `SELECT * FROM dba_tables`); got != 942 {
		t.Errorf("dba_tables: ORA-%05d", got)
	}
}

func TestDescribe(t *testing.T) {
	s := shop(t)
	st, err := s.Prepare(`SELECT id, e.sal AS "Sal", COUNT(*) OVER_ALL, SUM("SAL"), 'abc', NULL, sal + 1, name, hired, code FROM emp e GROUP BY id, e.sal, name, hired, code`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range st.Columns() {
		got = append(got, strings.Join([]string{c.Name, typeName(c.Type), itoa(int(c.Type.Bytes)), itoa(int(c.Type.Precision)), itoa(int(c.Type.Scale))}, " "))
	}
	want := []string{"ID NUMBER 22 6 0", "Sal NUMBER 22 8 2", "OVER_ALL NUMBER 22 0 -127", `SUM("SAL") NUMBER 22 0 -127`, "'abc' CHAR 3 0 0", "NULL VARCHAR2 0 0 0",
		"SAL+1 NUMBER 22 0 -127", "NAME VARCHAR2 20 0 0", "HIRED DATE 7 0 0", "CODE CHAR 3 0 0"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
