package oracle

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// dictionary scripts one table with these columns, each as selectColumns returns it.
func dictionary(s *script, columns ...[]string) {
	s.set(selectObjectKinds, texted([]string{"INDEX"}, []string{"TABLE"}))
	s.set(selectTableFacts, texted([]string{"120000", "N"}))
	s.set(selectColumns, texted(columns...))
	s.set(selectKey, texted([]string{"ID"}))
}

var (
	idColumn   = []string{"ID", "NUMBER", "22", "10", "0", "0", "", "N"}
	noteColumn = []string{"Note", "VARCHAR2", "40", "", "", "10", "C", "Y"}
)

func TestDescribe(t *testing.T) {
	s := newScript()
	dictionary(s, idColumn, noteColumn, []string{"AT", "TIMESTAMP(6)", "11", "", "6", "0", "", "Y"})
	source, _ := serve(t, s, nil)
	got, err := source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Name: "T"}, Types: map[string]string{"ID": "string"}})
	want := &extract.Table{
		Name: extract.TableName{Schema: "APP", Name: "T"}, // the login's own schema, shown
		Columns: []extract.Column{
			{Name: "ID", Declared: "NUMBER(10)", Type: extract.Type{Kind: extract.Text, Length: maxNumberText}},
			{Name: "Note", Declared: "VARCHAR2(10 CHAR)", Type: extract.Type{Kind: extract.Text, Length: 10}, Nullable: true},
			{Name: "AT", Declared: "TIMESTAMP(6)", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}, Nullable: true},
		},
		Key:       []string{"ID"},
		Estimated: 120000,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("Describe = %+v, %v\nwant %+v", got, err, want)
	}
	got, err = source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Schema: "APP", Name: "T"}, Columns: []string{"AT", "ID"}})
	if err != nil || len(got.Columns) != 2 || got.Columns[0].Name != "AT" || got.Columns[1].Name != "ID" {
		t.Fatalf("two columns: %+v, %v; want AT and ID in this order", got, err)
	}
}

func TestDescribeReportsEveryFault(t *testing.T) {
	s := newScript()
	dictionary(s, idColumn, noteColumn, []string{"DOC", "CLOB", "4000", "", "", "0", "", "Y"}, []string{"WHEN", "INTERVAL DAY(2) TO SECOND(6)", "11", "2", "6", "0", "", "Y"})
	source, _ := serve(t, s, nil)
	_, err := source.Describe(t.Context(), extract.Selection{
		Table:   extract.TableName{Schema: "APP", Name: "T"},
		Columns: []string{"ID", "NOTE", "DOC", "WHEN", "GONE", "ID"},
		Types:   map[string]string{"LOST": "string"},
	})
	if !errors.Is(err, extract.ErrNoColumn) || !errors.Is(err, extract.ErrUnsupported) {
		t.Fatalf("err = %v, want ErrNoColumn and ErrUnsupported", err)
	}
	for _, want := range []string{
		`column "NOTE": column not found; there is "Note"`, `column "DOC": not supported: CLOB is not supported yet`,
		`"WHEN": not supported: INTERVAL DAY(2) TO SECOND(6)`, `column "GONE": column not found; the table has ID, Note, DOC, WHEN`,
		`column "ID" is listed twice`, `types: column "LOST"`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	_, err = source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Schema: "APP", Name: "T"}, Columns: []string{"GONE"}})
	if !errors.Is(err, extract.ErrNoColumn) || errors.Is(err, extract.ErrUnreachable) {
		t.Errorf("one column that is not there: %v, want ErrNoColumn and nothing else", err)
	}
	// What is left out is not refused.
	if _, err := source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Schema: "APP", Name: "T"}, Columns: []string{"ID"}}); err != nil {
		t.Fatalf("without the columns that are not supported: %v", err)
	}
}

func TestDescribeRefusesWhatIsNoTable(t *testing.T) {
	sel := extract.Selection{Table: extract.TableName{Schema: "APP", Name: "Order_Tb"}}
	for name, c := range map[string]struct {
		script func(s *script)
		is     error
		want   string
	}{
		"view":          {func(s *script) { s.set(selectObjectKinds, texted([]string{"VIEW"})) }, extract.ErrUnsupported, `"APP"."Order_Tb" is a VIEW`},
		"synonym":       {func(s *script) { s.set(selectObjectKinds, texted([]string{"SYNONYM"})) }, extract.ErrUnsupported, "SYNONYM"},
		"temporary":     {func(s *script) { s.set(selectTableFacts, texted([]string{"", "Y"})) }, extract.ErrUnsupported, "temporary"},
		"object table":  {func(s *script) { s.set(selectTableFacts, answer{columns: texted([]string{"", ""}).columns}) }, extract.ErrUnsupported, "objects"},
		"another case":  {nothingBut([]string{"APP", "ORDER_TB"}), extract.ErrNoTable, `there is "APP"."ORDER_TB" (names that are not upper case need double quotes)`},
		"other schema":  {nothingBut([]string{"SALES", "Order_Tb"}), extract.ErrNoTable, `there is "SALES"."Order_Tb"`},
		"not there":     {nothingBut(), extract.ErrNoTable, `GRANT SELECT, FLASHBACK ON "APP"."Order_Tb" TO "APP"`},
		"dictionary is": {func(s *script) { s.set(selectColumns, answer{err: ora.Errorf(1031, "insufficient privileges")}) }, extract.ErrPrivilege, "GRANT"},
	} {
		s := newScript()
		dictionary(s, idColumn)
		c.script(s)
		source, _ := serve(t, s, nil)
		_, err := source.Describe(t.Context(), sel)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %v with %q", name, err, c.is, c.want)
		}
	}
	source, _ := serve(t, newScript(), nil)
	if _, err := source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Name: `A"B`}}); !errors.Is(err, extract.ErrQuery) {
		t.Errorf("a name that none can be: %v, want ErrQuery", err)
	}
}

// nothingBut scripts a database in which only these tables have the name.
func nothingBut(similar ...[]string) func(*script) {
	return func(s *script) {
		s.set(selectObjectKinds, answer{columns: texted([]string{""}).columns})
		a := texted(similar...)
		if len(similar) == 0 {
			a.columns = texted([]string{"", ""}).columns
		}
		s.set(selectSimilarTables, a)
	}
}

func TestBounds(t *testing.T) {
	s := newScript()
	s.set(`MIN(t."N")`, texted([]string{"1", "120000", "105000", "105000"}))
	s.set(`MIN(t."AT")`, texted([]string{" 2026-09-28 00:00:00.000000000", " 9999-12-31 23:59:59.500000000", "10", "8"}))
	s.set(`MIN(t."EMPTY")`, texted([]string{"", "", "3", "0"}))
	s.set(`MIN(t."OLD")`, texted([]string{"-0044-03-15 00:00:00", " 2026-01-01 00:00:00", "3", "3"}))
	source, _ := serve(t, s, nil)
	q := numbers()
	q.Table.Columns = append(q.Table.Columns,
		extract.Column{Name: "AT", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}},
		extract.Column{Name: "EMPTY", Type: extract.Type{Kind: extract.Decimal, Precision: 9}},
		extract.Column{Name: "OLD", Type: extract.Type{Kind: extract.Timestamp}},
		extract.Column{Name: "NOTE", Type: extract.Type{Kind: extract.Text}})
	for column, want := range map[string]extract.Bounds{
		"N":     {Min: "1", Max: "120000", Rows: 105000},
		"AT":    {Min: "2026-09-28 00:00:00", Max: "9999-12-31 23:59:59.5", Rows: 10, Nulls: 2},
		"EMPTY": {Rows: 3, Nulls: 3},
	} {
		if got, err := source.Bounds(t.Context(), q, at("7"), column); err != nil || got != want {
			t.Errorf("bounds of %s = %+v, %v; want %+v", column, got, err, want)
		}
	}
	for column, want := range map[string]error{"OLD": extract.ErrValue, "NOTE": extract.ErrUnsupported} {
		if _, err := source.Bounds(t.Context(), q, at("7"), column); !errors.Is(err, want) {
			t.Errorf("bounds of %s: %v, want %v", column, err, want)
		}
	}
	// A split column that is not loaded is looked up.
	dictionary(s, []string{"N2", "NUMBER", "22", "10", "0", "0", "", "N"})
	s.set(`MIN(t."N2")`, texted([]string{"1", "2", "2", "2"}))
	if got, err := source.Bounds(t.Context(), q, at("7"), "N2"); err != nil || got.Max != "2" {
		t.Errorf("a column that is not loaded: %+v, %v", got, err)
	}
}

func TestMeasureThroughTheWire(t *testing.T) {
	s := newScript()
	s.set("GROUP BY q.s", texted([]string{"0", "60", "60", "1830", "1", "60"}, []string{"-2", "60", "", "", "", ""}))
	source, _ := serve(t, s, nil)
	q := numbers()
	ms, err := extract.DefaultMeasures(q.Table, "N", extract.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := source.Measure(t.Context(), q, at("7"), extract.PlanSingle(), ms)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil || m.Rows != 60 {
		t.Fatalf("manifest %+v: %v", m, err)
	}
	texts := source.Statements(q, at("7"), extract.PlanSingle(), ms)
	if len(texts) != 2 || s.seen(texts[0]) != 1 {
		t.Fatalf("Statements = %q, want the text that Measure has sent and one for Read", texts)
	}
	if bad := source.Statements(q, at("x"), extract.PlanSingle(), ms); !strings.HasPrefix(bad[0], "-- ") {
		t.Fatalf("Statements at no SCN = %q", bad)
	}
}
