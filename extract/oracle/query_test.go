package oracle

import (
	"errors"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

// inspection is the table that golden texts are about.
func inspection() extract.Query {
	return extract.Query{
		Table: &extract.Table{
			Name: extract.TableName{Schema: "APP", Name: "INSP_DTL"},
			Columns: []extract.Column{
				{Name: "SEQ", Declared: "NUMBER(10)", Type: extract.Type{Kind: extract.Decimal, Precision: 10}},
				{Name: "AMOUNT", Declared: "NUMBER(18,2)", Type: extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}, Nullable: true},
				{Name: "RATE", Declared: "NUMBER", Type: extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}, Nullable: true},
				{Name: "CREATED_AT", Declared: "TIMESTAMP(6)", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}, Nullable: true},
				{Name: "Note", Declared: "VARCHAR2(400 CHAR)", Type: extract.Type{Kind: extract.Text, Length: 400}, Nullable: true},
			},
			Key: []string{"SEQ"},
		},
		Where: "INSP_DT = DATE '2026-09-28'",
	}
}

func at(scn string) extract.Snapshot { return extract.Snapshot{SCN: scn} }

func seqSlices(t *testing.T, parts int) []extract.Slice {
	t.Helper()
	slices, err := extract.PlanRange(inspection().Table.Columns[0], extract.Bounds{Min: "1", Max: "120000"}, parts)
	if err != nil {
		t.Fatal(err)
	}
	return slices
}

func TestReadText(t *testing.T) {
	const columns = `SELECT t."SEQ", t."AMOUNT", t."RATE", t."CREATED_AT", t."Note" FROM "APP"."INSP_DTL" AS OF SCN 81234 t WHERE (INSP_DT = DATE '2026-09-28')`
	stamp := extract.Slice{Shape: extract.Range, Column: "CREATED_AT", Kind: extract.Timestamp}
	for _, c := range []struct {
		name  string
		slice extract.Slice
		want  string
	}{
		{"whole", extract.PlanSingle()[0], columns},
		{"first", seqSlices(t, 3)[0], columns + ` AND t."SEQ" < 40001`},
		{"middle", seqSlices(t, 3)[1], columns + ` AND t."SEQ" >= 40001 AND t."SEQ" < 80001`},
		{"last", seqSlices(t, 3)[2], columns + ` AND t."SEQ" >= 80001`},
		{"only", seqSlices(t, 1)[0], columns + ` AND t."SEQ" IS NOT NULL`},
		{"nulls", extract.Slice{Shape: extract.IsNull, Column: "AMOUNT", Kind: extract.Decimal}, columns + ` AND t."AMOUNT" IS NULL`},
		{"date", extract.Slice{Shape: stamp.Shape, Column: stamp.Column, Kind: stamp.Kind, Below: "2026-09-28 12:00:00"},
			columns + ` AND t."CREATED_AT" < TO_DATE('2026-09-28 12:00:00', 'YYYY-MM-DD HH24:MI:SS')`},
		{"fraction", extract.Slice{Shape: stamp.Shape, Column: stamp.Column, Kind: stamp.Kind, From: "2026-09-28 12:00:00.5"},
			columns + ` AND t."CREATED_AT" >= TO_TIMESTAMP('2026-09-28 12:00:00.5', 'YYYY-MM-DD HH24:MI:SS.FF')`},
	} {
		got, err := readText(inspection(), at("81234"), c.slice)
		if err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestReadTextWithHintAndWithoutWhere(t *testing.T) {
	q := inspection()
	q.Where, q.Hint, q.Table.Columns = "", "FULL(t) PARALLEL(2)", q.Table.Columns[:1]
	got, err := readText(q, at("1"), extract.PlanSingle()[0])
	const want = `SELECT /*+ FULL(t) PARALLEL(2) */ t."SEQ" FROM "APP"."INSP_DTL" AS OF SCN 1 t`
	if err != nil || got != want {
		t.Fatalf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestMeasureText(t *testing.T) {
	q := inspection()
	ms, err := extract.DefaultMeasures(q.Table, "SEQ", extract.Choice{Columns: []string{"RATE", "CREATED_AT"}})
	if err != nil {
		t.Fatal(err)
	}
	slices := append(seqSlices(t, 2), extract.Slice{ID: 2, Shape: extract.IsNull, Column: "SEQ", Kind: extract.Decimal})
	got, err := measureText(q, at("81234"), slices, ms)
	const want = `SELECT q.s, COUNT(*), COUNT(q.c0), SUM(q.c0), MIN(q.c0), MAX(q.c0), COUNT(q.c1),` +
		` COUNT(q.c2), SUM(TRUNC(q.c2, -9)), SUM(q.c2 - TRUNC(q.c2, -9)), MIN(q.c2), MAX(q.c2),` +
		` COUNT(q.c3), TO_CHAR(MIN(q.c3), 'SYYYY-MM-DD HH24:MI:SS.FF9'), TO_CHAR(MAX(q.c3), 'SYYYY-MM-DD HH24:MI:SS.FF9'), COUNT(q.c4)` +
		` FROM (SELECT CASE WHEN t."SEQ" < 60001 THEN 0 WHEN t."SEQ" >= 60001 THEN 1 WHEN t."SEQ" IS NULL THEN 2 ELSE -1 END s,` +
		` t."SEQ" c0, t."AMOUNT" c1, t."RATE" c2, t."CREATED_AT" c3, t."Note" c4` +
		` FROM "APP"."INSP_DTL" AS OF SCN 81234 t WHERE (INSP_DT = DATE '2026-09-28')) q GROUP BY q.s` +
		` UNION ALL SELECT -2, COUNT(*), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL` +
		` FROM "APP"."INSP_DTL" AS OF SCN 81234 t WHERE (INSP_DT = DATE '2026-09-28')`
	if err != nil || got != want {
		t.Fatalf("%v\n got %s\nwant %s", err, got, want)
	}
}

func TestBoundsText(t *testing.T) {
	q := inspection()
	got, err := boundsText(q, at("9"), q.Table.Columns[0])
	const want = `SELECT MIN(t."SEQ"), MAX(t."SEQ"), COUNT(*), COUNT(t."SEQ") FROM "APP"."INSP_DTL" AS OF SCN 9 t WHERE (INSP_DT = DATE '2026-09-28')`
	if err != nil || got != want {
		t.Fatalf("%v\n got %s\nwant %s", err, got, want)
	}
}

// TestTextsRefuse lists what must never become SQL.
func TestTextsRefuse(t *testing.T) {
	slice := func(s extract.Slice) func(*extract.Query, *extract.Snapshot, *extract.Slice) {
		return func(_ *extract.Query, _ *extract.Snapshot, to *extract.Slice) { *to = s }
	}
	for name, change := range map[string]func(q *extract.Query, at *extract.Snapshot, s *extract.Slice){
		"quote in the table":  func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Table.Name.Name = `T" t --` },
		"quote in the schema": func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Table.Name.Schema = `S"` },
		"quote in a column":   func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Table.Columns[0].Name = `A"B` },
		"NUL in a column":     func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Table.Columns[0].Name = "A\x00" },
		"empty column":        func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Table.Columns[0].Name = "" },
		"long column": func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) {
			q.Table.Columns[0].Name = strings.Repeat("A", 129)
		},
		"no columns":           func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Table.Columns = nil },
		"SCN that is not one":  func(_ *extract.Query, at *extract.Snapshot, _ *extract.Slice) { at.SCN = "1 OR 1=1" },
		"no SCN":               func(_ *extract.Query, at *extract.Snapshot, _ *extract.Slice) { at.SCN = "" },
		"comment in the hint":  func(q *extract.Query, _ *extract.Snapshot, _ *extract.Slice) { q.Hint = "FULL */ x /*" },
		"bound that is SQL":    slice(extract.Slice{Shape: extract.Range, Column: "SEQ", Kind: extract.Decimal, From: "1 OR 1=1"}),
		"bound with exponent":  slice(extract.Slice{Shape: extract.Range, Column: "SEQ", Kind: extract.Decimal, From: "1e5"}),
		"bound with a quote":   slice(extract.Slice{Shape: extract.Range, Column: "SEQ", Kind: extract.Timestamp, Below: "2026-09-28 00:00:00' OR '1'='1"}),
		"text bound":           slice(extract.Slice{Shape: extract.Range, Column: "Note", Kind: extract.Text, Below: "m"}),
		"quote in split":       slice(extract.Slice{Shape: extract.IsNull, Column: `SEQ"`}),
		"shape not known here": slice(extract.Slice{Shape: "rowid", Column: "SEQ"}),
	} {
		q, snapshot, s := inspection(), at("5"), extract.PlanSingle()[0]
		change(&q, &snapshot, &s)
		if text, err := readText(q, snapshot, s); err == nil {
			t.Errorf("%s: built %s", name, text)
		}
	}
	if got := quote(`a"b`); got != `"a""b"` {
		t.Errorf("quote = %s", got)
	}
}

func TestMeasureTextRefuses(t *testing.T) {
	decimal := inspection().Table.Columns[0].Type
	for name, m := range map[string]extract.Measure{
		"unknown column": {Column: "GONE", What: extract.NonNull},
		"other type":     {Column: "SEQ", Type: extract.Type{Kind: extract.Text}, What: extract.NonNull},
		"sum of text":    {Column: "Note", Type: extract.Type{Kind: extract.Text, Length: 400}, What: extract.Sum},
		"checksum":       {Column: "SEQ", Type: decimal, What: extract.Checksum},
	} {
		if text, err := measureText(inspection(), at("5"), extract.PlanSingle(), []extract.Measure{m}); err == nil {
			t.Errorf("%s: built %s", name, text)
		}
	}
	two := append(extract.PlanSingle(), extract.Slice{ID: 1, Shape: extract.Whole})
	if _, err := measureText(inspection(), at("5"), two, nil); !errors.Is(err, extract.ErrManifest) {
		t.Errorf("two slices of every row: %v, want ErrManifest", err)
	}
}

func TestManifestFromRows(t *testing.T) {
	q := inspection()
	q.Table.Columns = q.Table.Columns[1:4] // AMOUNT, RATE, CREATED_AT
	ms, err := extract.DefaultMeasures(q.Table, "", extract.Choice{All: true})
	if err != nil {
		t.Fatal(err)
	}
	slices := seqSlices(t, 3)
	rows := [][]string{
		{"0", "2", "2", "3.5", "1", "2.5", "1", "1000000000", "0.5", "1000000000.5", "1000000000.5", "0", "", ""},
		{"2", "1", "1", "-4", "-4", "-4", "1", "-12345678901234567890000000000", "-0.0000000001", "-5", "-5", "1",
			" 2026-09-28 01:02:03.100000000", " 2026-09-28 01:02:03.100000000"},
		{"-2", "3", "", "", "", "", "", "", "", "", "", "", "", ""},
	}
	m, err := manifest(rows, slices, ms)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	if m.Slices[1].Rows != 0 {
		t.Errorf("the empty slice has %d rows", m.Slices[1].Rows)
	}
	const want = "rows=3 AMOUNT.nonnull=3 AMOUNT.sum=-0.50 AMOUNT.min=-4.00 AMOUNT.max=2.50" +
		" RATE.nonnull=2 RATE.sum=-12345678901234567888999999999.5000000001 RATE.min=-5.0000000000 RATE.max=1000000000.5000000000" +
		" CREATED_AT.nonnull=1 CREATED_AT.min=2026-09-28 01:02:03.1 CREATED_AT.max=2026-09-28 01:02:03.1"
	var got []string
	for _, x := range m.Total {
		got = append(got, strings.TrimPrefix(x.Column+"."+string(x.What), ".")+"="+x.Value)
	}
	if text := strings.Join(got, " "); text != want {
		t.Errorf("total\n got %s\nwant %s", text, want)
	}
}

func TestManifestRefusesRowsThatMakeNoSense(t *testing.T) {
	for name, rows := range map[string][][]string{
		"no count of the table": {{"0", "1"}},
		"a slice twice":         {{"0", "1"}, {"0", "1"}, {"-2", "2"}},
		"no slice number":       {{"", "1"}, {"-2", "1"}},
	} {
		if m, err := manifest(rows, extract.PlanSingle(), nil); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	m, err := manifest([][]string{{"-1", "4"}, {"0", "1"}, {"-2", "5"}}, extract.PlanSingle(), []extract.Measure{{What: extract.Rows}})
	if err != nil || m.Stray != 4 {
		t.Fatalf("stray rows = %d, %v; want 4", m.Stray, err)
	}
	if err := m.Check(); !errors.Is(err, extract.ErrManifest) {
		t.Fatalf("stray rows passed the check: %v", err)
	}
}
