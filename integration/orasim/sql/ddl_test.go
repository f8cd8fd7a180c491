package sql

import (
	"context"
	"testing"
)

func TestDDL(t *testing.T) {
	s := shop(t)
	for _, c := range []struct {
		text  string
		code  int
		check string // a query
		want  string
	}{
		{`CREATE TABLE copy AS SELECT id, name AS who, sal * 2 twice FROM emp WHERE id < 3`, 0, `SELECT * FROM copy ORDER BY id`, "1|Ann|2001\n2|Bob|4000"},
		{`CREATE TABLE bad AS SELECT id + 0 FROM emp WHERE 1/0 = 1`, 1476, `SELECT COUNT(*) FROM user_objects WHERE object_name = 'BAD'`, "0"},
		{`CREATE TABLE bad AS SELECT NULL n FROM DUAL`, 1723, ``, ``},
		{`ALTER TABLE copy ADD CONSTRAINT copy_pk PRIMARY KEY (id)`, 0, `SELECT nullable FROM all_tab_columns WHERE table_name = 'COPY' AND column_name = 'ID'`, "N"},
		{`INSERT INTO copy (id) VALUES (1)`, 1, ``, ``}, {`ALTER TABLE copy ADD CONSTRAINT other UNIQUE (who)`, 0, ``, ``}, {`DROP INDEX app.other`, 2429, ``, ``},
		{`ALTER TABLE copy ADD PRIMARY KEY (who)`, 2260, ``, ``}, {`INSERT INTO copy VALUES (3, 'Ann', 1)`, 1, ``, ``},
		{`ALTER TABLE copy ADD (note VARCHAR2(5) DEFAULT 'none' NOT NULL)`, 0, `SELECT note FROM copy`, "none\nnone"},
		{`ALTER TABLE copy ADD (must NUMBER NOT NULL)`, 1758, ``, ``}, {`ALTER TABLE copy ADD note NUMBER`, 1430, ``, ``},
		{`ALTER TABLE copy MODIFY (note VARCHAR2(8))`, 0, `SELECT data_length FROM all_tab_columns WHERE table_name = 'COPY' AND column_name = 'NOTE'`, "8"},
		{`ALTER TABLE copy MODIFY note VARCHAR2(2)`, 1441, ``, ``}, {`ALTER TABLE copy MODIFY (note NUMBER)`, 1439, ``, ``}, {`ALTER TABLE copy MODIFY note NULL`, 0, `SELECT nullable FROM all_tab_columns WHERE table_name = 'COPY' AND column_name = 'NOTE'`, "Y"},
		{`UPDATE copy SET note = NULL WHERE id = 1`, 0, ``, ``}, {`ALTER TABLE copy MODIFY note NOT NULL`, 2296, ``, ``}, {`UPDATE copy SET note = 'longer!!'`, 0, ``, ``},
		{`CREATE UNIQUE INDEX u ON app.emp (dept_id)`, 1452, ``, ``}, {`CREATE OR REPLACE VIEW v AS SELECT id FROM copy`, 0, `SELECT COUNT(*) FROM v`, "2"},
		{`CREATE OR REPLACE VIEW v AS SELECT nope FROM copy`, 904, `SELECT COUNT(*) FROM v`, "2"}, {`CREATE VIEW v AS SELECT 1 x FROM DUAL`, 955, ``, ``}, {`INSERT INTO v VALUES (1)`, 3001, ``, ``},
		{`DROP TABLE copy CASCADE CONSTRAINTS PURGE`, 0, `SELECT COUNT(*) FROM all_objects WHERE object_name IN ('COPY', 'COPY_PK')`, "0"}, {`SELECT * FROM v`, 4063, ``, ``}, {`DROP VIEW v`, 0, ``, ``},
		{`CREATE TABLE wide (a NUMBER(39))`, 1727, ``, ``}, {`CREATE TABLE wide (a VARCHAR2(4001))`, 910, ``, ``}, {`CREATE TABLE wide (a VARCHAR2(0))`, 1723, ``, ``}, {`CREATE TABLE wide (a)`, 2263, ``, ``},
		{`CREATE SYNONYM d FOR app.dept`, 0, `SELECT COUNT(*) FROM d`, "3"}, {`DROP SYNONYM d`, 0, ``, ``}, {`SELECT * FROM d`, 942, ``, ``}, {`TRUNCATE TABLE dept`, 0, `SELECT COUNT(*) FROM dept`, "0"},
		{`GRANT SELECT ON emp TO nobody`, 1917, ``, ``}, {`GRANT FLY TO app`, 1919, ``, ``}, {`GRANT SELECT ON nope TO app`, 942, ``, ``}, {`CREATE USER app IDENTIFIED BY x`, 1920, ``, ``},
		{`DROP USER app CASCADE`, 0, `SELECT COUNT(*) FROM all_tables WHERE owner = 'APP'`, "0"},
	} {
		_, err := s.Run(context.Background(), c.text)
		if got := codeOf(t, err); got != c.code {
			t.Errorf("%s: got %v, want ORA-%05d", c.text, err, c.code)
			continue
		}
		if c.check == "" {
			continue
		}
		if got := rowsOf(t, s, c.check); got != c.want {
			t.Errorf("after %s: got %q, want %q", c.text, got, c.want)
		}
	}
}
