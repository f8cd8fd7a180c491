package extracttest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/loadctl/loadctl/extract"
)

// inspection is the table that most tests read: numbers 1..n without a gap in the middle, every column but the
// key with NULLs.
var inspection = extract.TableName{Schema: Schema, Name: "INSP_DTL"}

func inspectionColumns() []extract.Column {
	return []extract.Column{
		{Name: "SEQ", Type: extract.Type{Kind: extract.Decimal, Precision: 10}},
		{Name: "INSP_DT", Type: extract.Type{Kind: extract.Timestamp}, Nullable: true},
		{Name: "AMOUNT", Type: extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}, Nullable: true},
		{Name: "RATE", Type: extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}, Nullable: true},
		{Name: "GRADE", Type: extract.Type{Kind: extract.Text, Length: 3, Fixed: true}, Nullable: true},
		{Name: "NOTE", Type: extract.Type{Kind: extract.Text, Length: 100}, Nullable: true},
		{Name: "CREATED_AT", Type: extract.Type{Kind: extract.Timestamp, Scale: 6}, Nullable: true},
	}
}

func text(format string, args ...any) *string {
	s := fmt.Sprintf(format, args...)
	return &s
}

// inspectionRow is the row with this key, the same at every call. Its version changes every other value.
func inspectionRow(seq, version int) []*string {
	row := []*string{
		text("%d", seq),
		text("2026-09-%02d %02d:00:00", seq%28+1, (seq+version)%24),
		text("%d.%02d", seq*7-1000+version, seq%100),
		text("-%d.%010d", version, seq),
		text("G%d ", seq%9+1),
		text("note %d of version %d, 검사", seq, version),
		text("2026-09-28 12:%02d:%02d.%d", seq/60%60, seq%60, seq%9+1),
	}
	for i := 1; i < len(row); i++ {
		if (seq+i)%7 == 0 {
			row[i] = nil
		}
	}
	return row
}

// rows are the keys 1..n, without those above gapFrom up to gapTo.
func rows(n, gapFrom, gapTo int) [][]*string {
	var out [][]*string
	for seq := 1; seq <= n; seq++ {
		if seq <= gapFrom || seq > gapTo {
			out = append(out, inspectionRow(seq, 0))
		}
	}
	return out
}

// digestOf is the digest of rows of canonical text, computed without the source.
func digestOf(t *testing.T, columns []extract.Column, rows [][]*string) extract.Digest {
	t.Helper()
	d := extract.NewDigester(columns)
	d.Add(batchOf(t, columns, rows))
	return d.Digest()
}

func batchOf(t *testing.T, columns []extract.Column, rows [][]*string) *extract.Batch {
	t.Helper()
	b := extract.NewBatch(columns, 0, 0)
	for _, row := range rows {
		for i, value := range row {
			if err := appendText(&b.Cols[i], value); err != nil {
				t.Fatalf("fixture: %v", err)
			}
		}
		b.Rows++
	}
	return b
}

func appendText(v *extract.Vector, value *string) error {
	switch {
	case value == nil:
		v.Null()
	case v.Type.Kind == extract.Timestamp:
		day, nano, err := extract.ParseTimestamp(*value)
		if err != nil {
			return err
		}
		v.AppendTime(day, nano)
	case v.Type.Kind == extract.Decimal:
		n, err := extract.ParseDecimal(*value, v.Type)
		if err != nil {
			return err
		}
		if v.Type.Wide() {
			v.AppendWide(n)
		} else {
			narrow, _ := n.Int64()
			v.AppendInt(narrow)
		}
	default:
		v.AppendString(*value)
	}
	return nil
}

// table is a described table with a snapshot, ready to be read.
type table struct {
	source extract.Source
	query  extract.Query
	at     extract.Snapshot
}

// open makes the inspection table with these rows, describes it and fixes a snapshot.
func open(t *testing.T, h Harness, rows [][]*string) *table {
	t.Helper()
	h.Create(t, inspection, inspectionColumns(), "SEQ")
	h.Insert(t, inspection, rows)
	return look(t, h.Source(t), inspection)
}

func look(t *testing.T, source extract.Source, name extract.TableName) *table {
	t.Helper()
	described, err := source.Describe(t.Context(), extract.Selection{Table: name})
	if err != nil {
		t.Fatal(err)
	}
	at, err := source.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &table{source: source, query: extract.Query{Table: described}, at: at}
}

// plan cuts the table by a column and measures the slices with every measure.
func (x *table) plan(t *testing.T, column string, parts int) (extract.Manifest, []extract.Measure) {
	t.Helper()
	bounds, err := x.source.Bounds(t.Context(), x.query, x.at, column)
	if err != nil {
		t.Fatal(err)
	}
	c, ok := x.query.Table.Column(column)
	if !ok {
		t.Fatalf("no column %s", column)
	}
	slices, err := extract.PlanRange(c, bounds, parts)
	if err != nil {
		t.Fatal(err)
	}
	ms, err := extract.DefaultMeasures(x.query.Table, column, extract.Choice{All: true})
	if err != nil {
		t.Fatal(err)
	}
	m, err := x.source.Measure(t.Context(), x.query, x.at, slices, ms)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return m, ms
}

// stream is what came of a slice.
type stream struct {
	rows    int64
	digest  extract.Digest
	metrics []extract.Metric
}

// read reads a slice to its end, in batches of a few rows, by one batch that is used again and again.
func (x *table) read(ctx context.Context, slice extract.Slice, ms []extract.Measure) (stream, error) {
	tally, err := extract.NewTally(x.query.Table.Columns, ms)
	if err != nil {
		return stream{}, err
	}
	digester := extract.NewDigester(x.query.Table.Columns)
	r, err := x.source.Read(ctx, x.query, x.at, slice)
	if err != nil {
		return stream{}, err
	}
	defer r.Close()
	b := extract.NewBatch(x.query.Table.Columns, 64, 0)
	for {
		err := r.Next(ctx, b)
		if err == io.EOF {
			return stream{tally.Rows(), digester.Digest(), tally.Metrics()}, r.Close()
		}
		if err != nil {
			return stream{rows: tally.Rows()}, err
		}
		if b.Rows < 1 || b.Rows > 64 {
			return stream{}, fmt.Errorf("a batch of at most 64 rows has %d", b.Rows)
		}
		tally.Add(b)
		digester.Add(b)
	}
}

// mustRead is read where nothing may go wrong.
func (x *table) mustRead(t *testing.T, slice extract.Slice) stream {
	t.Helper()
	s, err := x.read(t.Context(), slice, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func wantDigest(t *testing.T, got, want extract.Digest, columns []extract.Column) {
	t.Helper()
	for _, d := range want.Differences(got, columns) {
		t.Errorf("want and got: %s", d)
	}
}
