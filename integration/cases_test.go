package integration

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/scenario"
	"github.com/loadctl/loadctl/pipeline"
)

// tableCase is one table, from Oracle's SQL to what a reader that is not ours finds in the target, or to a refusal at
// plan time that names what is refused. Several rows of one id are several tables of that case.
type tableCase struct {
	id      string   // of ../shared/cases, where the failure was seen in another tool
	seed    []string // run as APP
	table   string   // as in the job file
	columns string   // as in the job file; "" means all
	want    []string // rows, sorted, values as scenario.Line writes them
	refused []string // texts of the refusal; nil: it loads
}

var tableCases = []tableCase{
	{id: "IDQ-02", table: `app."order_tb"`, want: []string{`1|r1`, `2|\N`}, seed: []string{
		`CREATE TABLE "order_tb"("id" NUMBER(9) PRIMARY KEY, "relationId" VARCHAR2(9))`,
		`INSERT INTO "order_tb" VALUES (1, 'r1')`, `INSERT INTO "order_tb" VALUES (2, NULL)`}},
	{id: "IDQ-03", table: "app.k", refused: []string{`"Id"`, `"ID"`, `"id"`}, seed: []string{
		`CREATE TABLE K("Id" NUMBER(9), "ID" NUMBER(9), "id" NUMBER(9))`}},
	{id: "IDQ-04", table: `app."주문$#"`, refused: []string{`"a b"`, `"x.y"`, `"semi;colon"`, "back`tick"}, seed: []string{
		"CREATE TABLE \"주문$#\" (\"금액\" NUMBER(9), \"A$B\" NUMBER(9), \"C#\" NUMBER(9), \"a b\" NUMBER(9), \"x.y\" NUMBER(9), \"semi;colon\" NUMBER(9), \"back`tick\" NUMBER(9))",
		`INSERT INTO "주문$#" VALUES (1, 2, 3, 4, 5, 6, 7)`}},
	{id: "IDQ-04", table: `app."주문$#"`, columns: `['"금액"', 'A$B', 'C#']`, want: []string{"1|2|3"}},
	{id: "IDQ-05", table: "app.reserved", want: []string{"1|2|3|4|5"}, seed: []string{
		`CREATE TABLE RESERVED (CONST NUMBER(9), CLASS NUMBER(9), "_X" NUMBER(9), "1ST" NUMBER(9), LOCATION NUMBER(9))`,
		`INSERT INTO RESERVED VALUES (1, 2, 3, 4, 5)`}},
	{id: "PSQ-010", table: `app."T5+_Pr#duct"`, refused: []string{`"Product Descr"`}, seed: []string{
		`CREATE TABLE "T5+_Pr#duct" ("product_id" INTEGER PRIMARY KEY, "Product Descr" VARCHAR2(255), PRICE# NUMBER, AMT$ NUMBER)`,
		`INSERT INTO "T5+_Pr#duct" VALUES (1, 'hello, world!', 1.5, 2)`}},
	{id: "PSQ-010", table: `app."T5+_Pr#duct"`, columns: `['"product_id"', 'PRICE#', 'AMT$']`, want: []string{"1|1.5|2"}},
	{id: "PSQ-010", table: "app.foo$bar", want: []string{"hello, world!"}, seed: []string{
		`CREATE TABLE FOO$BAR (A VARCHAR2(50))`, `INSERT INTO FOO$BAR VALUES ('hello, world!')`}},
	{id: "PSQ-010", table: `app."TST_Pr OdUCT"`, want: []string{"7"}, seed: []string{
		`CREATE TABLE "TST_Pr OdUCT" (A NUMBER)`, `INSERT INTO "TST_Pr OdUCT" VALUES (7)`}},
	{id: "PSQ-011", table: `app."junk.tab.with.dots"`, want: []string{"1"}, seed: []string{
		`CREATE TABLE "junk.tab.with.dots" (A NUMBER)`, `INSERT INTO "junk.tab.with.dots" VALUES (1)`}},
	{id: "PDB-021", table: `app."my-table"`, want: []string{"1|a"}, seed: []string{
		`CREATE TABLE "my-table" (K NUMBER(9) PRIMARY KEY, D VARCHAR2(50))`, `INSERT INTO "my-table" VALUES (1, 'a')`}},
	{id: "PDB-021", table: `app."Q1! 表"`, want: []string{"1"}, seed: []string{`CREATE TABLE "Q1! 表" (A INT)`, `INSERT INTO "Q1! 表" VALUES (1)`}},
	{id: "PDB-021", table: `app."db/z50/06"`, want: []string{"1|Record1"}, seed: []string{
		`CREATE TABLE "db/z50/06" (K NUMBER(9) PRIMARY KEY, D VARCHAR2(50))`, `INSERT INTO "db/z50/06" VALUES (1, 'Record1')`}},
	{id: "PDB-021", table: `app."dbz//5006"`, want: []string{"1"}, seed: []string{`CREATE TABLE "dbz//5006" (K NUMBER(9))`, `INSERT INTO "dbz//5006" VALUES (1)`}},
	{id: "PDB-021", table: `app."own_test'"`, want: []string{"1|Andy"}, seed: []string{
		`CREATE TABLE "own_test'" (ID NUMBER(10) PRIMARY KEY, F VARCHAR2(50))`, `INSERT INTO "own_test'" VALUES (1, 'Andy')`}},
	{id: "PDB-024", table: "app.pc_with_a_name_that_is_greater_than_30", want: []string{"1|x"}, seed: []string{
		`CREATE TABLE PC_WITH_A_NAME_THAT_IS_GREATER_THAN_30 (ID NUMBER(9), A_VERY_LONG_COLUMN_NAME_THAT_IS_GREATER_THAN_30 VARCHAR2(30))`,
		`INSERT INTO PC_WITH_A_NAME_THAT_IS_GREATER_THAN_30 VALUES (1, 'x')`}},
	{id: "PDB-024", table: `app."` + long + `"`, want: []string{"1"}, seed: []string{
		`CREATE TABLE "` + long + `" ("` + long + `" NUMBER(9))`, `INSERT INTO "` + long + `" VALUES (1)`}},
	{id: "PDV-006", table: `app."PC-IDENTIFIER$_#"`, want: []string{"1|#|$|-|@|Row 1"}, seed: []string{
		`CREATE TABLE "PC-IDENTIFIER$_#" (ID NUMBER(6) PRIMARY KEY, "COL#HASH" VARCHAR2(10), "COL$DOLLAR" VARCHAR2(10), "COL-HYPHEN" VARCHAR2(10), "COL@AT" VARCHAR2(10), OTHER_DATA VARCHAR2(100))`,
		`INSERT INTO "PC-IDENTIFIER$_#" VALUES (1, '#', '$', '-', '@', 'Row 1')`}},
	{id: "PTR-026", table: `app.pc_case`, want: []string{"2"}, seed: []string{
		`CREATE TABLE "pc_case" (A NUMBER)`, `CREATE TABLE "PC_CASE" (A NUMBER)`, `CREATE TABLE "Pc_Case" (A NUMBER)`,
		`INSERT INTO "pc_case" VALUES (1)`, `INSERT INTO "PC_CASE" VALUES (2)`, `INSERT INTO "Pc_Case" VALUES (3)`}},
	{id: "PTR-026", table: `app."pc_case"`, want: []string{"1"}},
	{id: "PTR-026", table: `app."Pc_Case"`, want: []string{"3"}},
	{id: "NUL-02", table: "app.nulls", want: []string{
		`1|\N|\N|\N|\N|\N`, `2|0.5|2020-01-01 00:00:00|2020-01-01 00:00:00.1|v|c  `, `3|\N|\N|\N|\N|\N`}, seed: []string{
		`CREATE TABLE NULLS (K NUMBER(3), N NUMBER(9,2), D DATE, T TIMESTAMP(6), V VARCHAR2(10), C CHAR(3))`,
		`INSERT INTO NULLS (K) VALUES (1)`,
		`INSERT INTO NULLS VALUES (2, 0.5, DATE '2020-01-01', TIMESTAMP '2020-01-01 00:00:00.1', 'v', 'c')`,
		`INSERT INTO NULLS (K) VALUES (3)`}},
	{id: "PRS-007", table: "app.pc_prs007", refused: []string{"NVARCHAR2", "NCHAR", "RAW", "CLOB"}, seed: []string{
		`CREATE TABLE PC_PRS007 (K NUMBER(4) PRIMARY KEY, A VARCHAR2(10), B CHAR(10), C NVARCHAR2(10), D NCHAR(10), E RAW(4), F CLOB)`,
		`INSERT INTO PC_PRS007 (K, A, B) VALUES (1, '', '')`, `INSERT INTO PC_PRS007 (K, A, B) VALUES (2, ' ', ' ')`}},
	{id: "PRS-007", table: "app.pc_prs007", columns: "[K, A, B]", want: []string{`1|\N|\N`, "2| |          "}},
	{id: "PND-012", table: "app.pc_pnd012", want: []string{`1|\N|\N|\N|\N|\N|\N`, `2|\N|\N|\N|\N|\N|\N`}, seed: []string{
		`CREATE TABLE PC_PND012 (K NUMBER, A CHAR(2000), C VARCHAR2(4000), E NUMBER, F NUMBER(15,5), J DATE, L TIMESTAMP(5))`,
		`INSERT INTO PC_PND012 (K) VALUES (1)`, `INSERT INTO PC_PND012 (K, A, C) VALUES (2, '', '')`}},
}

// long is a Korean name of 42 characters, 126 bytes.
var long = strings.Repeat("가", 42)

// onHive are the cases that stand for their kinds on real Hive; the others run on the embedded warehouse alone.
var onHive = []string{"IDQ-04", "IDQ-05", "PDV-006", "NUL-02", "PDB-024"}

// TestCases loads each table through the real program.
func TestCases(t *testing.T) {
	inEach(t, func(t *testing.T, w *scenario.World) {
		for i, c := range tableCases {
			if w.Stack != nil && !slices.Contains(onHive, c.id) {
				continue
			}
			t.Run(fmt.Sprintf("%s_%d", c.id, i), func(t *testing.T) { c.run(t, w, i) })
		}
	})
}

func (c tableCase) run(t *testing.T, w *scenario.World, n int) {
	for _, statement := range c.seed {
		if err := w.Oracle.Run(scenario.Owner, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	if err := w.Oracle.Run("SYS", "GRANT SELECT ANY TABLE, FLASHBACK ANY TABLE TO "+scenario.Reader); err != nil {
		t.Fatal(err)
	}
	database := "lake"
	if w.Stack != nil {
		database = w.Name
	}
	job, target := fmt.Sprintf("CASE_%d", n), fmt.Sprintf("%s.case_%d", database, n)
	columns := c.columns
	if columns == "" {
		columns = "all"
	}
	yaml := fmt.Sprintf("job: %s\nsource:\n  name: core\n  table: '%s'\n  columns: %s\ntarget:\n  table: %s\n  partition:\n    load_date: \"{date}\"\n",
		job, strings.ReplaceAll(c.table, "'", "''"), columns, target)
	if err := w.WriteJob(job, yaml); err != nil {
		t.Fatal(err)
	}
	got := loadctl(t, w, "run", "--job", job, "--date", scenario.Date)
	if c.refused != nil {
		if got.code != pipeline.ExitFailed {
			t.Errorf("want a refusal: %s", got)
		}
		for _, text := range c.refused {
			if !strings.Contains(got.stderr, text) {
				t.Errorf("the refusal does not name %s: %s", text, got.stderr)
			}
		}
		return
	}
	if got.code != 0 {
		t.Fatalf("%s", got)
	}
	lines := othersRead(t, w, target)
	if !slices.Equal(lines, c.want) {
		t.Errorf("the target holds %q, want %q", lines, c.want)
	}
}

// othersRead reads a target's partition with Hive, or with DuckDB.
func othersRead(t *testing.T, w *scenario.World, target string) []string {
	t.Helper()
	var rows [][]string
	if w.Stack != nil {
		var err error
		if rows, err = w.Hive(t.Context(), "SELECT * FROM "+target+" WHERE load_date = '"+scenario.Date+"'"); err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			rows[i] = rows[i][:len(rows[i])-1] // the partition column
		}
	} else {
		database, table, _ := strings.Cut(target, ".")
		rows = parquetRows(t, "duckdb", filepath.Join(w.Dir, "warehouse", database+".db", table, "load_date="+scenario.Date))
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = scenario.Line(row)
	}
	slices.Sort(lines)
	return lines
}
