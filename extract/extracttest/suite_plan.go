package extracttest

import (
	"errors"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

func testDescribe(t *testing.T, h Harness) {
	want := inspectionColumns()
	h.Create(t, inspection, want, "SEQ")
	source := h.Source(t)
	got, err := source.Describe(t.Context(), extract.Selection{Table: inspection})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != inspection || len(got.Key) != 1 || got.Key[0] != "SEQ" || len(got.Columns) != len(want) {
		t.Fatalf("described %+v, want %d columns of %+v with the key SEQ", got, len(want), inspection)
	}
	for i, c := range got.Columns {
		if c.Name != want[i].Name || c.Type != want[i].Type || c.Nullable != want[i].Nullable || c.Declared == "" {
			t.Errorf("column %d is %+v, want %+v and its declaration", i, c, want[i])
		}
	}
	got, err = source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Name: inspection.Name}, Columns: []string{"NOTE", "SEQ"}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name.Schema != Schema {
		t.Errorf("the login's own schema is shown as %q, want %s", got.Name.Schema, Schema)
	}
	if len(got.Columns) != 2 || got.Columns[0].Name != "NOTE" || got.Columns[1].Name != "SEQ" {
		t.Errorf("NOTE and SEQ are described as %+v", got.Columns)
	}
}

func testDescribeFaults(t *testing.T, h Harness) {
	h.Create(t, inspection, inspectionColumns(), "SEQ")
	source := h.Source(t)
	_, err := source.Describe(t.Context(), extract.Selection{Table: extract.TableName{Schema: Schema, Name: "insp_dtl"}})
	if !errors.Is(err, extract.ErrNoTable) || !strings.Contains(err.Error(), "INSP_DTL") {
		t.Errorf("a name of another case: %v, want ErrNoTable that suggests INSP_DTL", err)
	}
	_, err = source.Describe(t.Context(), extract.Selection{Table: inspection, Columns: []string{"GONE", "SEQ", "LOST"}})
	if !errors.Is(err, extract.ErrNoColumn) || !strings.Contains(err.Error(), "GONE") || !strings.Contains(err.Error(), "LOST") {
		t.Errorf("two columns that are not there: %v, want ErrNoColumn that names both", err)
	}
}

func testBounds(t *testing.T, h Harness) {
	x := open(t, h, rows(100, 0, 0))
	b := batchOf(t, inspectionColumns(), rows(100, 0, 0))
	for _, column := range []string{"SEQ", "AMOUNT", "RATE", "INSP_DT", "CREATED_AT"} {
		want := extract.Bounds{Rows: 100}
		want.Min, want.Max, want.Nulls = extremes(b, column)
		if got, err := x.source.Bounds(t.Context(), x.query, x.at, column); err != nil || got != want {
			t.Errorf("bounds of %s = %+v, %v; want %+v", column, got, err, want)
		}
	}
	empty := extract.TableName{Schema: Schema, Name: "EMPTY"}
	h.Create(t, empty, inspectionColumns(), "SEQ")
	y := look(t, x.source, empty)
	if got, err := y.source.Bounds(t.Context(), y.query, y.at, "SEQ"); err != nil || got != (extract.Bounds{}) {
		t.Errorf("bounds of an empty table = %+v, %v; want none", got, err)
	}
}

// extremes are the least and greatest text of a column and the number of its NULLs, by a plain loop.
func extremes(b *extract.Batch, column string) (least, greatest string, nulls int64) {
	i := 0
	for inspectionColumns()[i].Name != column {
		i++
	}
	v := &b.Cols[i]
	less := func(a, b string) bool {
		if v.Type.Kind == extract.Timestamp {
			return a < b
		}
		order, err := extract.CompareDecimal(a, b)
		return err == nil && order < 0
	}
	for row := range b.Rows {
		if v.IsNull(row) {
			nulls++
			continue
		}
		value := string(v.AppendText(nil, row))
		if least == "" || less(value, least) {
			least = value
		}
		if greatest == "" || less(greatest, value) {
			greatest = value
		}
	}
	return least, greatest, nulls
}

// testCover cuts the table by each kind of column, with a hole in the key and NULLs in the others, and demands
// that what is read of the slices is the table, once, with the metrics that the source has measured.
func testCover(t *testing.T, h Harness) {
	all := rows(400, 100, 150)
	x := open(t, h, all)
	for column, want := range map[string]int{"SEQ": 8, "AMOUNT": 9, "INSP_DT": 9, "CREATED_AT": 9, "RATE": 9} {
		m, ms := x.plan(t, column, 8)
		if len(m.Slices) != want || m.Rows != int64(len(all)) {
			t.Errorf("by %s: %d slices of %d rows, want %d of %d", column, len(m.Slices), m.Rows, want, len(all))
		}
		sum := extract.NewDigester(inspectionColumns()).Digest()
		for _, s := range m.Slices {
			got, err := x.read(t.Context(), s.Slice, ms)
			if err != nil {
				t.Fatalf("by %s: %v", column, err)
			}
			if got.rows != s.Rows {
				t.Errorf("by %s: slice %d has %d rows, %d were read", column, s.Slice.ID, s.Rows, got.rows)
			}
			for _, d := range extract.Compare(s.Metrics, got.metrics) {
				t.Errorf("by %s, slice %d: %s", column, s.Slice.ID, d.Text("source", "stream"))
			}
			if err := sum.Merge(got.digest); err != nil {
				t.Fatal(err)
			}
		}
		wantDigest(t, sum, digestOf(t, inspectionColumns(), all), inspectionColumns())
	}
	m, _ := x.plan(t, "SEQ", 8) // slices of 50; 101..150 is one
	if m.Slices[2].Rows != 0 || m.Slices[1].Rows != 50 || m.Slices[3].Rows != 50 {
		t.Errorf("slices of SEQ have %d, %d, %d rows in the middle, want 50, 0, 50", m.Slices[1].Rows, m.Slices[2].Rows, m.Slices[3].Rows)
	}
	if s := x.mustRead(t, m.Slices[2].Slice); s.rows != 0 {
		t.Errorf("%d rows were read of the empty slice", s.rows)
	}
}

func testSingle(t *testing.T, h Harness) {
	all := rows(50, 0, 0)
	x := open(t, h, all)
	slices := extract.PlanSingle()
	ms, err := extract.DefaultMeasures(x.query.Table, "", extract.Choice{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.source.Measure(t.Context(), x.query, x.at, slices, ms)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil || m.Rows != 50 {
		t.Fatalf("%d rows, want 50: %v", m.Rows, err)
	}
	got, err := x.read(t.Context(), slices[0], ms)
	if err != nil {
		t.Fatal(err)
	}
	wantDigest(t, got.digest, digestOf(t, inspectionColumns(), all), inspectionColumns())
	if n := len(x.source.Statements(x.query, x.at, slices, ms)); n != 2 {
		t.Errorf("%d statements, want one for Measure and one for Read", n)
	}
}

func testWhere(t *testing.T, h Harness) {
	x := open(t, h, rows(100, 0, 0))
	x.query.Where = "SEQ <= 10 OR SEQ > 95" // binds weaker than the slice's own condition
	m, _ := x.plan(t, "SEQ", 4)
	if m.Rows != 15 {
		t.Errorf("%d rows are counted, want 15", m.Rows)
	}
	total := int64(0)
	for _, s := range m.Slices {
		total += x.mustRead(t, s.Slice).rows
	}
	if total != 15 {
		t.Errorf("%d rows are read, want 15", total)
	}
}
