package main

import "fmt"

// The user of --demo. The password is no secret: the server listens on the loopback and holds nothing but the demo.
const (
	demoUser     = "demo"
	demoPassword = "demo"
)

// demoSeed makes a table with the types that a loader meets most, a tenth of its remarks NULL.
const demoSeed = `
CREATE TABLE demo.inspection (
  seq       NUMBER(10) NOT NULL PRIMARY KEY,
  insp_dt   DATE NOT NULL,
  amount    NUMBER(18,2),
  grade     VARCHAR2(10),
  remark    VARCHAR2(100),
  updated   TIMESTAMP(6));
INSERT INTO demo.inspection
SELECT LEVEL, DATE '2026-09-01' + MOD(LEVEL, 30), LEVEL * 1.25, 'G' || MOD(LEVEL, 5),
       CASE WHEN MOD(LEVEL, 10) = 0 THEN NULL ELSE '검사 ' || LEVEL END,
       TIMESTAMP '2026-09-01 00:00:00' + NUMTODSINTERVAL(LEVEL, 'MINUTE')
FROM dual CONNECT BY LEVEL <= 1000;
COMMIT;
`

// demoLine is a command that reads the demo's table with python-oracledb.
func demoLine(addr, service string) string {
	return fmt.Sprintf(`python3 -c "import oracledb; c = oracledb.connect(user='%s', password='%s', dsn='%s/%s'); `+
		`print(c.cursor().execute('SELECT COUNT(*), SUM(amount), MAX(updated) FROM inspection').fetchall())"`,
		demoUser, demoPassword, addr, service)
}
