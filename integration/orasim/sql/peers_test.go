package sql

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// withBinds runs a query with text binds and returns its rows.
func withBinds(t *testing.T, s *Session, text string, binds ...string) [][]string {
	t.Helper()
	st, err := s.Prepare(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var list []ora.Bind
	for _, b := range binds {
		list = append(list, ora.Bind{Type: textType(128), Value: ora.Value(b)})
	}
	cur, _, err := st.Execute(context.Background(), list)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	rows, err := drain(context.Background(), st, cur)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return rows
}

// chunkQuery is how OraOop cuts a table into ranges of blocks; the binds are :numchunks, owner and name.
const chunkQuery = `SELECT data_object_id, file_id, relative_fno, file_batch, MIN(start_block_id) start_block_id,
	MAX(end_block_id) end_block_id, SUM(blocks) blocks
FROM (SELECT o.data_object_id, e.file_id, e.relative_fno, e.block_id start_block_id, e.block_id + e.blocks - 1 end_block_id, e.blocks,
		CEIL(SUM(e.blocks) OVER (PARTITION BY o.data_object_id, e.file_id ORDER BY e.block_id ASC) /
			(SUM(e.blocks) OVER (PARTITION BY o.data_object_id, e.file_id) / :numchunks)) file_batch
	FROM dba_extents e, dba_objects o, dba_tab_subpartitions tsp
	WHERE o.owner = :owner AND o.object_name = :object_name AND o.owner = e.owner AND o.object_name = e.segment_name
		AND (o.subobject_name = e.partition_name OR (o.subobject_name IS NULL AND e.partition_name IS NULL))
		AND o.data_object_id IS NOT NULL AND o.object_type LIKE 'TABLE%'
		AND o.owner = tsp.table_owner(+) AND o.object_name = tsp.table_name(+) AND o.subobject_name = tsp.subpartition_name(+))
GROUP BY data_object_id, file_id, relative_fno, file_batch
ORDER BY data_object_id, file_id, relative_fno, file_batch`

// TestOraOopChunks reads tables by the chunks that OraOop makes: every row is in one.
func TestOraOopChunks(t *testing.T) {
	s := partitioned(t)
	run(t, s, "CREATE TABLE big ORGANIZATION GENERATOR (ROWS 300000 COLUMNS 10)")
	for table, want := range map[string]int{"SALES": 100, "AREA": 40, "BIG": 300000} {
		chunks := withBinds(t, s, chunkQuery, "4", "SYSTEM", table)
		total := 0
		for _, c := range chunks {
			n := 0
			count := rowsOf(t, s, fmt.Sprintf(`SELECT COUNT(*) FROM %s t WHERE ((rowid >= dbms_rowid.rowid_create(1, %s, %s, %s, 0)
				AND rowid <= dbms_rowid.rowid_create(1, %s, %s, %s, 32767)))`, table, c[0], c[2], c[4], c[0], c[2], c[5]))
			if _, err := fmt.Sscan(count, &n); err != nil {
				t.Fatal(err)
			}
			total += n
		}
		if total != want {
			t.Errorf("%s: %d chunks have %d rows, want %d", table, len(chunks), total, want)
		}
	}
}

// TestPeersAsk runs what the peers' clients ask of the dictionary and of a table.
func TestPeersAsk(t *testing.T) {
	s := partitioned(t)
	scn := s.SCN()
	for _, c := range []struct {
		query string
		binds []string
		want  string
	}{
		{`SELECT * FROM (SELECT * FROM SALES AS OF SCN ` + fmt.Sprint(scn) + `) q WHERE 1=0`, nil, ""},
		{`SELECT "K" FROM SALES WHERE "K" < 3 or "K" is null`, nil, "1\n2"},
		{`SELECT K FROM SALES WHERE ( K >= 98.5 ) AND ( K <= 100.0 )`, nil, "99\n100"},
		{`SELECT K FROM SALES WHERE ( 1=1 ) AND ( 1=1 ) AND ("K" IS NOT NULL) AND ("K" > 99)`, nil, "100"},
		{`SELECT COUNT(*) FROM (SELECT 1 FROM SALES) SPARK_GEN_SUBQ_0`, nil, "100"},
		{`SELECT COLUMN_NAME FROM ALL_TAB_COLUMNS WHERE OWNER = :1 AND TABLE_NAME = :2 ORDER BY COLUMN_ID`, []string{"SYSTEM", "SALES"}, "K\nD\nCODE"},
		{`SELECT ALL_CONS_COLUMNS.COLUMN_NAME FROM ALL_CONS_COLUMNS, ALL_CONSTRAINTS WHERE ALL_CONS_COLUMNS.CONSTRAINT_NAME = ALL_CONSTRAINTS.CONSTRAINT_NAME
			AND ALL_CONSTRAINTS.CONSTRAINT_TYPE = 'P' AND ALL_CONS_COLUMNS.TABLE_NAME = :1 AND ALL_CONS_COLUMNS.OWNER = :2`, []string{"SALES", "SYSTEM"}, "K"},
		{`SELECT MIN(K), MAX(K) FROM SALES`, nil, "1|100"},
		{`SELECT owner, table_name FROM dba_tables WHERE owner = :1 AND table_name = :2 ORDER BY owner, table_name`, []string{"SYSTEM", "AREA"}, "SYSTEM|AREA"},
		{`select iot_type from dba_tables where owner = :1 and table_name = :2`, []string{"SYSTEM", "AREA"}, `\N`},
		{`SELECT column_name, data_type FROM dba_tab_columns WHERE owner = :1 and table_name = :2 and (DATA_TYPE IN ('NUMBER', 'DATE') OR DATA_TYPE LIKE 'INTERVAL%') ORDER BY column_id`,
			[]string{"SYSTEM", "SALES"}, "K|NUMBER\nD|DATE"},
		{`SELECT K,'4_1' data_chunk_id FROM SALES t WHERE K = 1 UNION ALL SELECT K,'4_2' data_chunk_id FROM SALES t WHERE K = 2`, nil, "1|4_1\n2|4_2"},
		{`select sys_context('userenv','current_schema') from dual`, nil, "SYSTEM"}, {`SELECT 1.1 FROM DUAL`, nil, "1.1"},
		{`SELECT DBTIMEZONE FROM DUAL`, nil, "+00:00"},
		{`SELECT O.OBJECT_TYPE FROM ALL_OBJECTS O WHERE O.OWNER LIKE :1 ESCAPE '/' AND O.OBJECT_NAME LIKE :2 ESCAPE '/' AND O.OBJECT_TYPE IN ('xxx', 'TABLE')`,
			[]string{"SYSTEM", "SALE_"}, "TABLE"},
		{`select subpartition_name from dba_tab_subpartitions where table_owner = :1 and table_name = :2 and partition_name = 'P1' and rownum = 1`, []string{"SYSTEM", "AREA"}, ""},
	} {
		rows := withBinds(t, s, c.query, c.binds...)
		lines := make([]string, len(rows))
		for i, row := range rows {
			lines[i] = strings.Join(row, "|")
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.query, got, c.want)
		}
	}
}
