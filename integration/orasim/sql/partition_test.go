package sql

import (
	"context"
	"fmt"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/store"
)

func partitioned(t *testing.T) *Session {
	t.Helper()
	_, s := open(t, Config{})
	run(t, s, `CREATE TABLE sales (k NUMBER PRIMARY KEY, d DATE, code VARCHAR2(10))
		PARTITION BY RANGE (d) SUBPARTITION BY HASH (code) SUBPARTITIONS 4
		(PARTITION p1 VALUES LESS THAN (DATE '2024-01-01'), PARTITION p2 VALUES LESS THAN (MAXVALUE))`,
		"INSERT INTO sales SELECT LEVEL, DATE '2023-12-01' + LEVEL, 'C' || LEVEL FROM DUAL CONNECT BY LEVEL <= 100", "COMMIT",
		`CREATE TABLE area (k NUMBER, r VARCHAR2(9)) PARTITION BY LIST (r)
		(PARTITION asia VALUES ('KR', 'JP'), PARTITION none VALUES (NULL), PARTITION other VALUES (DEFAULT))`,
		"INSERT INTO area SELECT LEVEL, DECODE(MOD(LEVEL, 4), 0, 'KR', 1, 'JP', 2, NULL, 'DE') FROM DUAL CONNECT BY LEVEL <= 40", "COMMIT")
	return s
}

func TestPartitions(t *testing.T) {
	s := partitioned(t)
	for _, c := range []struct{ query, want string }{
		{"SELECT COUNT(*), MIN(k), MAX(k) FROM sales PARTITION (p1)", "30|1|30"},
		{"SELECT COUNT(*) FROM sales PARTITION (p2) s WHERE k > 90", "10"},
		{"SELECT COUNT(*) FROM sales", "100"},
		{"SELECT COUNT(*) FROM sales WHERE k = 31", "1"},
		{"SELECT COUNT(*) FROM area PARTITION (asia)", "20"}, {"SELECT COUNT(*) FROM area PARTITION (none) WHERE r IS NULL", "10"},
		{"SELECT DISTINCT r FROM area PARTITION (other)", "DE"},
		{"SELECT PARTITIONING_TYPE, SUBPARTITIONING_TYPE, PARTITION_COUNT FROM USER_PART_TABLES WHERE TABLE_NAME = 'SALES'", "RANGE|HASH|2"},
		{"SELECT PARTITION_NAME, SUBPARTITION_COUNT, HIGH_VALUE FROM USER_TAB_PARTITIONS WHERE TABLE_NAME = 'SALES' ORDER BY PARTITION_POSITION",
			"P1|4|TO_DATE(' 2024-01-01 00:00:00', 'SYYYY-MM-DD HH24:MI:SS', 'NLS_CALENDAR=GREGORIAN')\nP2|4|MAXVALUE"},
		{"SELECT HIGH_VALUE FROM USER_TAB_PARTITIONS WHERE TABLE_NAME = 'AREA' ORDER BY PARTITION_POSITION", "'KR', 'JP'\nNULL\nDEFAULT"},
		{"SELECT COUNT(DISTINCT DATA_OBJECT_ID) FROM USER_OBJECTS WHERE OBJECT_NAME = 'SALES'", "8"},
		{"SELECT COUNT(*) FROM USER_SEGMENTS WHERE SEGMENT_NAME = 'SALES' AND SEGMENT_TYPE = 'TABLE SUBPARTITION'", "8"},
		{"SELECT PARTITIONED FROM USER_TABLES WHERE TABLE_NAME = 'SALES'", "YES"},
	} {
		if got := rowsOf(t, s, c.query); got != c.want {
			t.Errorf("%s: got %s, want %s", c.query, got, c.want)
		}
	}
	total := 0
	names, err := s.Query(context.Background(), "SELECT SUBPARTITION_NAME FROM USER_TAB_SUBPARTITIONS WHERE TABLE_NAME = 'SALES'")
	if err != nil || len(names) != 8 {
		t.Fatalf("subpartitions: %v, %v", names, err)
	}
	for _, n := range names {
		list, err := s.Query(context.Background(), "SELECT k FROM sales SUBPARTITION ("+n[0]+")")
		if err != nil {
			t.Fatal(err)
		}
		total += len(list)
	}
	if total != 100 {
		t.Errorf("subpartitions have %d rows in all", total)
	}
}

// TestExtentsCoverEveryRow reads each table by the ROWID ranges of its extents, as a splitter does.
func TestExtentsCoverEveryRow(t *testing.T) {
	s := partitioned(t)
	run(t, s, "CREATE TABLE heap (k NUMBER)", "INSERT INTO heap SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 25000", "COMMIT",
		"CREATE TABLE big ORGANIZATION GENERATOR (ROWS 60000 COLUMNS 10)")
	for table, want := range map[string]int{"SALES": 100, "AREA": 40, "HEAP": 25000, "BIG": 60000} {
		ranges, err := s.Query(context.Background(), `SELECT o.DATA_OBJECT_ID, e.RELATIVE_FNO, e.BLOCK_ID, e.BLOCK_ID + e.BLOCKS - 1
			FROM DBA_EXTENTS e, DBA_OBJECTS o WHERE o.OWNER = e.OWNER AND o.OBJECT_NAME = e.SEGMENT_NAME AND o.OBJECT_TYPE = e.SEGMENT_TYPE
			AND NVL(o.SUBOBJECT_NAME, '-') = NVL(e.PARTITION_NAME, '-') AND o.OBJECT_NAME = '`+table+"'")
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, r := range ranges {
			n := 0
			query := fmt.Sprintf(`SELECT COUNT(*) FROM %s WHERE ROWID >= DBMS_ROWID.ROWID_CREATE(1, %s, %s, %s, 0)
				AND ROWID <= DBMS_ROWID.ROWID_CREATE(1, %s, %s, %s, 32767)`, table, r[0], r[1], r[2], r[0], r[1], r[3])
			if _, err := fmt.Sscan(rowsOf(t, s, query), &n); err != nil {
				t.Fatal(err)
			}
			got += n
		}
		if got != want {
			t.Errorf("%s: %d extents have %d rows, want %d", table, len(ranges), got, want)
		}
	}
	if got := rowsOf(t, s, "SELECT COUNT(DISTINCT DBMS_ROWID.ROWID_BLOCK_NUMBER(ROWID)), MAX(DBMS_ROWID.ROWID_ROW_NUMBER(ROWID)) FROM heap"); got != "250|99" {
		t.Errorf("blocks and last row: got %s", got)
	}
}

func TestSample(t *testing.T) {
	_, s := open(t, Config{})
	run(t, s, "CREATE TABLE heap (k NUMBER)", "INSERT INTO heap SELECT LEVEL FROM DUAL CONNECT BY LEVEL <= 20000", "COMMIT")
	for clause, unit := range map[string]string{"SAMPLE (10) SEED (5)": "ROWID", "SAMPLE BLOCK (20) SEED (1)": "DBMS_ROWID.ROWID_BLOCK_NUMBER(ROWID)"} {
		query := "SELECT COUNT(*), COUNT(DISTINCT " + unit + ") FROM heap " + clause
		first := rowsOf(t, s, query)
		if again := rowsOf(t, s, query); again != first {
			t.Errorf("%s: %s, then %s", clause, first, again)
		}
		var rows, units int
		if _, err := fmt.Sscanf(first, "%d|%d", &rows, &units); err != nil {
			t.Fatal(err)
		}
		if rows < 1000 || rows > 6000 || unit != "ROWID" && rows != 100*units {
			t.Errorf("%s: %d rows of %d units", clause, rows, units)
		}
	}
	if _, err := s.Query(context.Background(), "SELECT k FROM heap SAMPLE (100)"); codeOf(t, err) != 30562 {
		t.Errorf("100 per cent: got %v, want ORA-30562", err)
	}
}

// TestPartitionUnderAReader changes partitions while a cursor is open: a reader of another partition goes on.
func TestPartitionUnderAReader(t *testing.T) {
	s := partitioned(t)
	asia, other := execute(t, s, "SELECT k FROM area PARTITION (asia)"), execute(t, s, "SELECT k FROM area PARTITION (other)")
	whole := execute(t, s, "SELECT k FROM area")
	scn := s.SCN()
	for _, cur := range []interface{ Close() }{asia, other, whole} {
		defer cur.Close()
	}
	run(t, s, "ALTER TABLE area TRUNCATE PARTITION asia")
	if _, err := other.Next(context.Background()); err != nil {
		t.Errorf("a reader of another partition: %v", err)
	}
	if _, err := asia.Next(context.Background()); codeOf(t, err) != 8103 {
		t.Errorf("a reader of the partition: got %v, want ORA-08103", err)
	}
	if _, err := whole.Next(context.Background()); codeOf(t, err) != 8103 {
		t.Errorf("a reader of the table: got %v, want ORA-08103", err)
	}
	if _, err := s.Query(context.Background(), fmt.Sprintf("SELECT k FROM area AS OF SCN %d", scn)); codeOf(t, err) != 1466 {
		t.Errorf("before the truncation: got %v, want ORA-01466", err)
	}
	if got := rowsOf(t, s, "SELECT COUNT(*) FROM area"); got != "20" {
		t.Errorf("%s rows are left", got)
	}
}

func TestExchangePartition(t *testing.T) {
	s := partitioned(t)
	run(t, s, "CREATE TABLE stage (k NUMBER, r VARCHAR2(9))", "INSERT INTO stage VALUES (-1, 'KR')", "COMMIT",
		"ALTER TABLE area EXCHANGE PARTITION asia WITH TABLE stage WITHOUT VALIDATION")
	for query, want := range map[string]string{
		"SELECT k FROM area PARTITION (asia)": "-1", "SELECT COUNT(*) FROM area": "21", "SELECT COUNT(*) FROM stage": "20",
	} {
		if got := rowsOf(t, s, query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	for table, query := range map[string]string{"AREA": "SELECT * FROM area", "STAGE": "SELECT * FROM stage"} {
		image, err := s.db.store.Journal().Image(store.Name{Owner: "SYSTEM", Table: table}, s.SCN())
		if err != nil {
			t.Fatal(err)
		}
		if got := len(image.Rows); fmt.Sprint(got) != rowsOf(t, s, "SELECT COUNT(*) FROM ("+query+")") {
			t.Errorf("the journal has %d rows of %s", got, table)
		}
	}
}

func TestPartitionErrors(t *testing.T) {
	s := partitioned(t)
	run(t, s, "CREATE TABLE few (k NUMBER) PARTITION BY RANGE (k) (PARTITION a VALUES LESS THAN (10))")
	run(t, s, "CREATE TABLE held (k NUMBER, r VARCHAR2(9))")
	other := login(t, s.db, "SYSTEM")
	run(t, other, "INSERT INTO held VALUES (1, 'KR')")
	if _, err := s.Run(context.Background(), "ALTER TABLE area EXCHANGE PARTITION asia WITH TABLE held"); codeOf(t, err) != 54 {
		t.Errorf("exchange with a table that is being changed: got %v, want ORA-00054", err)
	}
	run(t, other, "ROLLBACK")
	for _, c := range []struct {
		text string
		code int
	}{
		{"INSERT INTO few VALUES (10)", 14400}, {"INSERT INTO few VALUES (NULL)", 14400},
		{"SELECT * FROM few PARTITION (b)", 2149}, {"SELECT * FROM sales SUBPARTITION (b)", 14251},
		{"UPDATE sales SET d = DATE '2025-01-01' WHERE k = 1", 14402},
		{"ALTER TABLE few DROP PARTITION a", 14083}, {"ALTER TABLE few ADD PARTITION b VALUES LESS THAN (5)", 14037},
		{"INSERT INTO sales VALUES (31, DATE '2020-01-01', 'x')", 1},
	} {
		if _, err := s.Run(context.Background(), c.text); codeOf(t, err) != c.code {
			t.Errorf("%s: got %v, want ORA-%05d", c.text, err, c.code)
		}
	}
	run(t, s, "ALTER TABLE few ADD PARTITION b VALUES LESS THAN (20)", "INSERT INTO few VALUES (10)", "COMMIT",
		"ALTER TABLE few DROP PARTITION a")
	if got := rowsOf(t, s, "SELECT k FROM few PARTITION (b)"); got != "10" {
		t.Errorf("a partition added: got %s", got)
	}
}
