package oracle_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

// These tests are named after the cases of a shared collection: failures of other tools, and what the test suites
// of other drivers cover. Each has the part of its case that reading is answerable for.

func app(table string) extract.TableName { return extract.TableName{Schema: "APP", Name: table} }

// read describes a table, measures it by a split column ("" for none), reads every slice and returns the rows as
// text, sorted; NULL is "-".
func read(t *testing.T, source extract.Source, sel extract.Selection, split string) []string {
	t.Helper()
	table, err := source.Describe(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	at, err := source.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := extract.Query{Table: table}
	cut := extract.PlanSingle()
	if split != "" {
		b, err := source.Bounds(t.Context(), q, at, split)
		if err != nil {
			t.Fatal(err)
		}
		c, _ := table.Column(split)
		if cut, err = extract.PlanRange(c, b, 3); err != nil {
			t.Fatal(err)
		}
	}
	ms, err := extract.DefaultMeasures(table, split, extract.Choice{All: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := source.Measure(t.Context(), q, at, cut, ms)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range m.Slices {
		rows := readSlice(t, source, q, at, s.Slice)
		if int64(len(rows)) != s.Rows {
			t.Errorf("slice %d has %d rows, %d were counted", s.Slice.ID, len(rows), s.Rows)
		}
		out = append(out, rows...)
	}
	slices.Sort(out)
	return out
}

func readSlice(t *testing.T, source extract.Source, q extract.Query, at extract.Snapshot, s extract.Slice) []string {
	t.Helper()
	r, err := source.Read(t.Context(), q, at, s)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := extract.NewBatch(q.Table.Columns, 0, 0)
	var out []string
	for {
		err := r.Next(t.Context(), b)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		for row := range b.Rows {
			var values []string
			for i := range b.Cols {
				value := "-"
				if !b.Cols[i].IsNull(row) {
					value = string(b.Cols[i].AppendText(nil, row))
				}
				values = append(values, value)
			}
			out = append(out, strings.Join(values, "|"))
		}
	}
}

func wantRows(t *testing.T, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("rows\n got %q\nwant %q", got, want)
	}
}

// Names in lower case work for table, columns and split column, and in every statement.
func TestCase_IDQ_02(t *testing.T) {
	h := start(t)
	h.run(t, "APP", `CREATE TABLE "order_tb"("id" NUMBER PRIMARY KEY, "relationId" VARCHAR2(9));`)
	var want []string
	for i := range 10 {
		h.run(t, "APP", fmt.Sprintf(`INSERT INTO "order_tb" VALUES (%d, 'r%d');`, i+1, i+1))
		want = append(want, fmt.Sprintf("%d.0000000000|r%d", i+1, i+1))
	}
	source := h.Source(t)
	wantRows(t, read(t, source, extract.Selection{Table: app("order_tb")}, "id"), want...)
	_, err := source.Describe(t.Context(), extract.Selection{Table: app("ORDER_TB")})
	if !errors.Is(err, extract.ErrNoTable) || !strings.Contains(err.Error(), `"APP"."order_tb"`) {
		t.Errorf("in upper case: %v, want ErrNoTable that suggests the name", err)
	}
}

// The snapshot is named before the alias, and a view, whose tables might be read at another instant, is refused.
func TestCase_IDQ_08(t *testing.T) {
	h := start(t)
	h.run(t, "SYS", "GRANT CREATE VIEW TO APP;")
	h.run(t, "APP", "CREATE TABLE A (N NUMBER(5)); INSERT INTO A VALUES (1); CREATE VIEW V AS SELECT N FROM A;")
	source := h.Source(t)
	wantRows(t, read(t, source, extract.Selection{Table: app("A")}, ""), "1")
	q := extract.Query{Table: &extract.Table{Name: app("A"), Columns: []extract.Column{{Name: "N"}}}}
	texts := source.Statements(q, extract.Snapshot{SCN: "123"}, extract.PlanSingle(), nil)
	if !strings.Contains(texts[1], `FROM "APP"."A" AS OF SCN 123 t`) {
		t.Errorf("the statement is %s", texts[1])
	}
	_, err := source.Describe(t.Context(), extract.Selection{Table: app("V")})
	if !errors.Is(err, extract.ErrUnsupported) || !strings.Contains(err.Error(), "VIEW") {
		t.Errorf("a view: %v, want ErrUnsupported that says VIEW", err)
	}
}

// Names of more than 30 and of 126 bytes; the names made for measuring do not grow with them.
func TestCase_PDB_024(t *testing.T) {
	h := start(t)
	korean := strings.Repeat("가나다라마바사", 6)
	h.run(t, "APP", `CREATE TABLE PC_WITH_A_NAME_THAT_IS_GREATER_THAN_30 (ID NUMBER(9), A_VERY_LONG_COLUMN_NAME_THAT_IS_GREATER_THAN_30 VARCHAR2(30));
INSERT INTO PC_WITH_A_NAME_THAT_IS_GREATER_THAN_30 VALUES (1, 'x');`)
	h.run(t, "APP", fmt.Sprintf("CREATE TABLE %q (%q NUMBER(9)); INSERT INTO %q VALUES (7);", korean, korean, korean))
	source := h.Source(t)
	wantRows(t, read(t, source, extract.Selection{Table: app("PC_WITH_A_NAME_THAT_IS_GREATER_THAN_30")}, "ID"), "1|x")
	wantRows(t, read(t, source, extract.Selection{Table: app(korean)}, korean), "7")
}

// Signs in names that need quotes, and those that do not.
func TestCase_PSQ_010(t *testing.T) {
	h := start(t)
	h.run(t, "APP", `CREATE TABLE "T5+_Pr#duct" ("product_id" INTEGER PRIMARY KEY, "Product Descr" VARCHAR2(255), PRICE# NUMBER, AMT$ NUMBER);
INSERT INTO "T5+_Pr#duct" VALUES (1, 'hello, world!', 1.5, 2);
CREATE TABLE FOO$BAR (A VARCHAR2(50));
INSERT INTO FOO$BAR VALUES ('hello, world!');
CREATE TABLE "TST_Pr OdUCT" (A NUMBER);
INSERT INTO "TST_Pr OdUCT" VALUES (7);`)
	source := h.Source(t)
	wantRows(t, read(t, source, extract.Selection{Table: app("T5+_Pr#duct")}, "product_id"), "1|hello, world!|1.5000000000|2.0000000000")
	wantRows(t, read(t, source, extract.Selection{Table: app("FOO$BAR")}, ""), "hello, world!")
	wantRows(t, read(t, source, extract.Selection{Table: app("TST_Pr OdUCT"), Types: map[string]string{"A": "decimal(9,0)"}}, "A"), "7")
}

// Dots inside names: whoever reads the configuration has taken them apart, and they are never joined again.
func TestCase_PSQ_011(t *testing.T) {
	h := start(t)
	h.run(t, "SYS", fmt.Sprintf("CREATE USER \"targ.usr\" IDENTIFIED BY \"%s\"; GRANT CONNECT, RESOURCE TO \"targ.usr\";", password))
	h.run(t, "APP", `CREATE TABLE "junk.tab.with.dots" (A NUMBER(3)); INSERT INTO "junk.tab.with.dots" VALUES (1);`)
	h.run(t, "targ.usr", `CREATE TABLE JUNK (A NUMBER(3)); INSERT INTO JUNK VALUES (2); GRANT SELECT, FLASHBACK ON JUNK TO APP;`)
	source := h.Source(t)
	wantRows(t, read(t, source, extract.Selection{Table: extract.TableName{Name: "junk.tab.with.dots"}}, "A"), "1")
	wantRows(t, read(t, source, extract.Selection{Table: extract.TableName{Schema: "targ.usr", Name: "JUNK"}}, "A"), "2")
}

// Three tables whose names differ only by case.
func TestCase_PTR_026(t *testing.T) {
	h := start(t)
	source := h.Source(t)
	for i, name := range []string{"pc_case", "PC_CASE", "Pc_Case"} {
		h.run(t, "APP", fmt.Sprintf("CREATE TABLE %q (A NUMBER(3)); INSERT INTO %q VALUES (%d);", name, name, i+1))
	}
	for i, name := range []string{"pc_case", "PC_CASE", "Pc_Case"} {
		wantRows(t, read(t, source, extract.Selection{Table: app(name)}, "A"), fmt.Sprint(i+1))
	}
	_, err := source.Describe(t.Context(), extract.Selection{Table: app("PC_case")})
	for _, name := range []string{`"pc_case"`, `"PC_CASE"`, `"Pc_Case"`} {
		if !errors.Is(err, extract.ErrNoTable) || !strings.Contains(err.Error(), name) {
			t.Errorf("a fourth: %v, want ErrNoTable that suggests %s", err, name)
		}
	}
}

// NULL stays NULL whatever stands before and after it, for every type that is read.
func TestCase_NUL_02(t *testing.T) {
	h := start(t)
	h.run(t, "APP", `CREATE TABLE N (A NUMBER, B NUMBER(9), C DATE, D TIMESTAMP(6), E VARCHAR2(9), F CHAR(2));
INSERT INTO N VALUES (NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO N VALUES (1.5, 2, DATE '2026-09-28', TIMESTAMP '2026-09-28 01:02:03.5', 'x', 'y');
INSERT INTO N VALUES (NULL, NULL, NULL, NULL, NULL, NULL);`)
	wantRows(t, read(t, h.Source(t), extract.Selection{Table: app("N")}, "B"),
		"-|-|-|-|-|-", "-|-|-|-|-|-", "1.5000000000|2|2026-09-28 00:00:00|2026-09-28 01:02:03.5|x|y ")
}

// A table with one column of every type: those not read yet are refused by name, all at once; of the others ” is
// NULL, and a NULL CHAR(2000) is not 2000 blanks. The column of type UROWID is left out, which the server does not
// have; TestTypesRefusedByName has it.
func TestCase_PND_012(t *testing.T) {
	h := start(t)
	h.run(t, "APP", `CREATE TABLE PC_PND012 (K NUMBER, A CHAR(2000), B NCHAR(1000), C VARCHAR2(4000), D NVARCHAR2(2000), E NUMBER, F NUMBER(15,5),
 G FLOAT(90), H BINARY_FLOAT, I BINARY_DOUBLE, J DATE, L TIMESTAMP(5), M TIMESTAMP(4) WITH TIME ZONE, N TIMESTAMP(9) WITH LOCAL TIME ZONE,
 O ROWID, Q NCLOB, R CLOB, S BLOB, T RAW(2000));
INSERT INTO PC_PND012 (K) VALUES (1);
INSERT INTO PC_PND012 (K, A, C) VALUES (2, '', '');`)
	source := h.Source(t)
	_, err := source.Describe(t.Context(), extract.Selection{Table: app("PC_PND012")})
	for column, typ := range map[string]string{
		"B": "NCHAR(1000)", "D": "NVARCHAR2(2000)", "G": "FLOAT(90)", "H": "BINARY_FLOAT", "I": "BINARY_DOUBLE", "M": "TIMESTAMP(4) WITH TIME ZONE",
		"N": "TIMESTAMP(9) WITH LOCAL TIME ZONE", "O": "ROWID", "Q": "NCLOB", "R": "CLOB", "S": "BLOB", "T": "RAW(2000)",
	} {
		if want := fmt.Sprintf("column %q: not supported: %s", column, typ); !errors.Is(err, extract.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	readable := extract.Selection{Table: app("PC_PND012"), Columns: []string{"K", "A", "C", "E", "F", "J", "L"}}
	wantRows(t, read(t, source, readable, "K"), "1.0000000000|-|-|-|-|-|-", "2.0000000000|-|-|-|-|-|-")
}

// The empty text is NULL, one blank is not, and CHAR is padded.
func TestCase_PRS_007(t *testing.T) {
	h := start(t)
	h.run(t, "APP", `CREATE TABLE PC_PRS007 (K NUMBER(4) PRIMARY KEY, A VARCHAR2(10), B CHAR(10), C NVARCHAR2(10), D NCHAR(10), E RAW(4), F CLOB);
INSERT INTO PC_PRS007 VALUES (1, '', '', N'', N'', '', '');
INSERT INTO PC_PRS007 VALUES (2, ' ', ' ', N' ', N' ', '00', ' ');`)
	source := h.Source(t)
	if _, err := source.Describe(t.Context(), extract.Selection{Table: app("PC_PRS007")}); !errors.Is(err, extract.ErrUnsupported) {
		t.Errorf("with columns that are not read yet: %v, want ErrUnsupported", err)
	}
	readable := extract.Selection{Table: app("PC_PRS007"), Columns: []string{"K", "A", "B"}}
	wantRows(t, read(t, source, readable, "K"), "1|-|-", "2| |"+strings.Repeat(" ", 10))
}
