package sql

import (
	"context"
	"strings"
	"testing"
)

// shop is a small schema that the query tests share.
func shop(t *testing.T) *Session {
	t.Helper()
	_, s := open(t, Config{})
	run(t, s,
		`CREATE USER app IDENTIFIED BY secret`, `GRANT CONNECT, RESOURCE TO app`, `ALTER SESSION SET CURRENT_SCHEMA = APP`,
		`CREATE TABLE app.dept (id NUMBER(4) PRIMARY KEY, name VARCHAR2(20) NOT NULL)`,
		`CREATE TABLE app.emp (id NUMBER(6) CONSTRAINT emp_pk PRIMARY KEY, name VARCHAR2(20), dept_id NUMBER(4), sal NUMBER(8,2), hired DATE, code CHAR(3))`,
		`INSERT INTO dept VALUES (10, 'Sales')`, `INSERT INTO dept VALUES (20, 'Ops')`, `INSERT INTO dept VALUES (30, 'Empty')`,
		`INSERT INTO emp VALUES (1, 'Ann', 10, 1000.50, DATE '2026-01-01', 'a')`,
		`INSERT INTO emp VALUES (2, 'Bob', 10, 2000, DATE '2026-02-01', 'bb')`,
		`INSERT INTO emp VALUES (3, 'Cid', 20, NULL, DATE '2026-03-01', 'ccc')`,
		`INSERT INTO emp (id, name) VALUES (4, '')`,
		`COMMIT`)
	return s
}

func TestQueries(t *testing.T) {
	s := shop(t)
	for _, c := range []struct{ query, want string }{
		{`SELECT id, name FROM emp WHERE dept_id = 10 ORDER BY id DESC`, "2|Bob\n1|Ann"},
		{`SELECT "ID" FROM "APP"."EMP" WHERE name IS NULL`, "4"},
		{`SELECT id FROM emp WHERE sal > 1000 AND sal < '2000.5' ORDER BY 1`, "1\n2"},
		{`SELECT COUNT(*), COUNT(sal), SUM(sal), MIN(sal), MAX(sal), AVG(sal), COUNT(DISTINCT dept_id), MIN(hired) FROM emp`,
			"4|2|3000.5|1000.5|2000|1500.25|2|2026-01-01 00:00:00"},
		{`SELECT COUNT(*), SUM(sal) FROM emp WHERE 1 = 0`, `0|\N`},
		{`SELECT dept_id, COUNT(*) c FROM emp GROUP BY dept_id HAVING COUNT(*) > 1`, "10|2"},
		{`SELECT COUNT(*) FROM emp WHERE 1 = 0 GROUP BY dept_id`, ""},
		{`SELECT CASE WHEN "ID" >= 1 AND "ID" < 3 THEN 0 WHEN "ID" IS NULL THEN 8 ELSE -1 END AS P, COUNT(*), COUNT("SAL"), SUM("SAL") FROM "APP"."EMP"
			GROUP BY CASE WHEN "ID" >= 1 AND "ID" < 3 THEN 0 WHEN "ID" IS NULL THEN 8 ELSE -1 END ORDER BY P`, "-1|2|0|\\N\n0|2|2|3000.5"},
		{`SELECT e.name, d.name FROM emp e JOIN dept d ON d.id = e.dept_id ORDER BY e.id`, "Ann|Sales\nBob|Sales\nCid|Ops"},
		{`SELECT e.id, d.name FROM emp e LEFT JOIN dept d ON d.id = e.dept_id AND d.name LIKE 'S%' ORDER BY 1`, "1|Sales\n2|Sales\n3|\\N\n4|\\N"},
		{`SELECT d.name, e.name FROM dept d, emp e WHERE d.id = e.dept_id(+) AND d.id >= 20 ORDER BY 1`, "Empty|\\N\nOps|Cid"},
		{`SELECT e.name FROM emp e, dept d WHERE e.dept_id = d.id AND d.name = 'Ops'`, "Cid"},
		{`SELECT d.*, x.c FROM dept d CROSS JOIN (SELECT COUNT(*) c FROM emp) x WHERE d.id = 10`, "10|Sales|4"},
		{`SELECT name FROM dept WHERE id IN (SELECT dept_id FROM emp) ORDER BY name`, "Ops\nSales"},
		{`SELECT name FROM dept WHERE id NOT IN (SELECT dept_id FROM emp)`, ""},
		{`SELECT name FROM dept WHERE id NOT IN (SELECT dept_id FROM emp WHERE dept_id IS NOT NULL)`, "Empty"},
		{`SELECT name FROM dept d WHERE NOT EXISTS (SELECT 1 FROM emp e WHERE e.dept_id = d.id)`, "Empty"},
		{`SELECT d.name, (SELECT MAX(e.sal) FROM emp e WHERE e.dept_id = d.id) FROM dept d ORDER BY d.id`, "Sales|2000\nOps|\\N\nEmpty|\\N"},
		{`SELECT id FROM emp WHERE ROWNUM <= 2`, "1\n2"},
		{`SELECT ROWNUM, id FROM (SELECT id FROM emp ORDER BY id DESC) WHERE ROWNUM < 3`, "1|4\n2|3"},
		{`SELECT id FROM emp WHERE ROWNUM > 1`, ""},
		{`SELECT id FROM emp ORDER BY id OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY`, "2\n3"},
		{`SELECT id FROM emp ORDER BY sal DESC NULLS LAST, id FETCH FIRST 1 ROW ONLY`, "2"},
		{`SELECT id FROM emp ORDER BY sal`, "1\n2\n3\n4"},
		{`SELECT id FROM emp ORDER BY sal DESC, id DESC`, "4\n3\n2\n1"},
		{`SELECT 1 x FROM DUAL UNION ALL SELECT 2 FROM DUAL UNION ALL SELECT 1 FROM DUAL ORDER BY x DESC`, "2\n1\n1"},
		{`SELECT dept_id FROM emp UNION SELECT id FROM dept ORDER BY 1 NULLS FIRST`, "\\N\n10\n20\n30"},
		{`SELECT id FROM dept MINUS SELECT dept_id FROM emp`, "30"},
		{`SELECT id FROM dept INTERSECT SELECT dept_id FROM emp ORDER BY 1`, "10\n20"},
		{`SELECT DISTINCT dept_id FROM emp ORDER BY dept_id`, "10\n20\n\\N"},
		{`WITH big AS (SELECT * FROM emp WHERE sal > 1500) SELECT name FROM big`, "Bob"},
		{`SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 3`, "1\n2\n3"},
		{`SELECT SUM(n) FROM (SELECT LEVEL n FROM DUAL CONNECT BY LEVEL <= 1000)`, "500500"},
		{`SELECT id FROM emp WHERE code = 'a'`, "1"}, {`SELECT id FROM emp WHERE code = 'a  '`, "1"},
		{`SELECT LENGTH(code), code || '|' FROM emp WHERE id = 1`, "3|a  |"},
		{`SELECT id FROM emp WHERE name LIKE '_o%'`, "2"}, {`SELECT COUNT(*) FROM dept WHERE name LIKE '%\_%' ESCAPE '\'`, "0"},
		{`SELECT id FROM emp WHERE hired BETWEEN DATE '2026-01-15' AND DATE '2026-02-15'`, "2"},
		{`SELECT id FROM emp WHERE id IN (1, 3, 99) ORDER BY id`, "1\n3"},
		{`SELECT e.id FROM app.emp e WHERE e.ROWID = (SELECT ROWID FROM emp WHERE id = 2)`, "2"},
		{`SELECT COUNT(*) FROM emp a, emp b WHERE a.id < b.id`, "6"},
		{`SELECT MAX(CASE WHEN sal IS NULL THEN 0 ELSE sal END) + 1 FROM emp`, "2001"},
		{`SELECT dept_id + 1, SUM(sal) * 2 FROM emp GROUP BY dept_id ORDER BY dept_id`, "11|6001\n21|\\N\n\\N|\\N"},
		{`(SELECT 1 FROM DUAL) UNION ALL (SELECT 2 FROM DUAL)`, "1\n2"},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s:\ngot  %q\nwant %q", c.query, got, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	s := shop(t)
	for _, c := range []struct {
		query     string
		code, pos int
	}{
		{`SELEC 1`, 900, 0}, {`SELECT 1`, 923, 8}, {`SELECT FROM DUAL`, 936, 7}, {`SELECT nope FROM emp`, 904, 7},
		{`SELECT e.nope FROM emp e`, 904, 7}, {`SELECT 1 FROM nope`, 942, 14}, {`SELECT id FROM emp, dept`, 918, 7},
		{`SELECT id, COUNT(*) FROM emp`, 979, 7}, {`SELECT id FROM emp WHERE COUNT(*) > 1`, 934, 25}, {`SELECT 'a FROM DUAL`, 1756, 7},
		{`SELECT 1 FROM DUAL WHERE 1`, 920, 25}, {`SELECT (1 FROM DUAL`, 907, 10}, {`SELECT 1 FROM DUAL;`, 933, 18},
		{`SELECT nofn(1) FROM DUAL`, 904, 7}, {`SELECT 1 FROM emp ORDER BY 3`, 1785, 27}, {`SELECT 1, 2 FROM DUAL UNION SELECT 1 FROM DUAL`, 1789, 22},
		{`SELECT 1 FROM DUAL UNION SELECT 'a' FROM DUAL`, 1790, 19}, {`SELECT DATE '2026-13-01' FROM DUAL`, 1843, 12},
		{`SELECT MAX(id) KEEP (DENSE_RANK FIRST ORDER BY id) FROM emp`, 3001, 15}, {`SELECT * FROM emp PARTITION (p1)`, 14501, 18},
		{`SELECT id FROM emp WHERE id = DATE '2026-01-01'`, 932, 25}, {`SELECT ROWNUM, COUNT(*) FROM emp`, 976, 7},
		{`CREATE TABLE x (a NUMBER) ORGANIZATION CUBE`, 3001, 26}, {`CREATE TABLE x (a NUMBER) PARTITION BY SYSTEM`, 3001, 39}, {`CREATE TABLE x (a 5)`, 902, 18},
		{`MERGE INTO emp USING dept ON (1=1)`, 3001, 0}, {`SELECT * FROM emp FULL JOIN dept ON 1=1`, 3001, 18},
		{`SELECT id FROM emp WHERE id IN (1,2`, 907, 35}, {`SELECT "" FROM DUAL`, 1741, 7}, {`SELECT 1 FROM emp WHERE ROWID = 1`, 932, 24},
	} {
		_, err := s.Prepare(c.query)
		if got := codeOf(t, err); got != c.code {
			t.Errorf("%s: got %v, want ORA-%05d", c.query, err, c.code)
			continue
		}
		if e := asOra(err); e.Pos != c.pos {
			t.Errorf("%s: got position %d, want %d", c.query, e.Pos, c.pos)
		}
	}
}

func TestRunTimeErrors(t *testing.T) {
	s := shop(t)
	run(t, s, `CREATE TABLE lim (a NUMBER(3), b VARCHAR2(3), c VARCHAR2(3 CHAR), d NUMBER(5,2) DEFAULT 1 NOT NULL, e CHAR(2), f RAW(2), g NVARCHAR2(2))`)
	for _, c := range []struct {
		text string
		code int
	}{
		{`SELECT 1/0 FROM DUAL`, 1476}, {`SELECT TO_NUMBER('x') FROM DUAL`, 1722}, {`SELECT TO_DATE('2026-02-30','YYYY-MM-DD') FROM DUAL`, 1839},
		{`SELECT (SELECT id FROM emp) FROM DUAL`, 1427}, {`SELECT TO_DATE('x','QQQQ') FROM DUAL`, 1820}, {`SELECT TO_CHAR(SYSDATE,'ZZ') FROM DUAL`, 1821},
		{`INSERT INTO lim (a) VALUES (1000)`, 1438}, {`INSERT INTO lim (b) VALUES ('abcd')`, 12899}, {`INSERT INTO lim (b) VALUES ('점검')`, 12899},
		{`INSERT INTO lim (c) VALUES ('점검일')`, 0}, {`INSERT INTO lim (d) VALUES (NULL)`, 1400}, {`INSERT INTO lim (d) VALUES (999.999)`, 1438},
		{`INSERT INTO lim (e) VALUES ('abc')`, 12899}, {`INSERT INTO lim (f) VALUES ('0102')`, 0}, {`INSERT INTO lim (f) VALUES ('010203')`, 12899}, {`INSERT INTO lim (g) VALUES (N'abc')`, 12899},
		{`UPDATE lim SET d = NULL`, 1407}, {`INSERT INTO emp (id) VALUES (1)`, 1}, {`UPDATE emp SET id = id + 1`, 0}, {`UPDATE emp SET id = 2`, 1},
		{`INSERT INTO emp (id, id) VALUES (1, 2)`, 957}, {`INSERT INTO emp (id) VALUES (1, 2)`, 913}, {`INSERT INTO emp VALUES (1)`, 947},
		{`INSERT INTO emp (nope) VALUES (1)`, 904}, {`CREATE TABLE emp (a NUMBER)`, 955}, {`DROP TABLE nope`, 942}, {`CREATE TABLE x1 (a NUMBER, a DATE)`, 957},
		{`BEGIN EXECUTE IMMEDIATE 'x'; END;`, 6550}, {`BEGIN nope.f(1); END;`, 6550}, {`BEGIN dbms_application_info.set_module('m', 'a'); END;`, 0},
		{`SELECT CAST(INTERVAL '100' DAY AS INTERVAL DAY(2) TO SECOND) FROM DUAL`, 1873}, {`ALTER SESSION SET NLS_SORT = KOREAN`, 3001}, {`ALTER SESSION SET TIME_ZONE = 'Mars/Base'`, 1882}, {`ALTER SESSION SET CONTAINER = other`, 65011},
		{`ALTER SESSION SET CURRENT_SCHEMA = nobody`, 1435},
	} {
		_, err := s.Run(context.Background(), c.text)
		if got := codeOf(t, err); got != c.code {
			t.Errorf("%s: got %v, want ORA-%05d", c.text, err, c.code)
		}
	}
	if got := rowsOf(t, s, `SELECT module, action FROM v$session`); !strings.HasPrefix(got, "m|a") {
		t.Errorf("module: got %q", got)
	}
}
