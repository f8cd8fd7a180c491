package parquet

import (
	"bytes"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// Hive's row reader compares schema elements and fails on a type_length that does not belong there. No reader
// but Hive's notices, so the footer is looked at.
func TestFooterHasNoStrayTypeLength(t *testing.T) {
	cols := []stage.Column{
		{Name: "d", Type: extract.Type{Kind: extract.Decimal, Precision: 12}},
		{Name: "t", Type: extract.Type{Kind: extract.Timestamp}},
		{Name: "f", Type: extract.Type{Kind: extract.Float32}},
		{Name: "g", Type: extract.Type{Kind: extract.Float64}},
		{Name: "s", Type: extract.Type{Kind: extract.Text}},
		{Name: "b", Type: extract.Type{Kind: extract.Binary}},
	}
	var file bytes.Buffer
	w, err := NewWriter(&file, cols, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	meta := footerOf(t, file.Bytes())
	for _, e := range meta.Schema {
		if want := e.Type.Valid && e.Type.V == format.FixedLenByteArray; e.TypeLength.Valid != want {
			t.Errorf("column %q of %v: type_length %v, there: %v, want %v", e.Name, e.Type.V, e.TypeLength.V, e.TypeLength.Valid, want)
		}
	}
	if got := meta.Schema[1].TypeLength.V; got != 6 {
		t.Errorf("12 digits take %d bytes, want 6", got)
	}
}

// Writing keeps no garbage behind a row: what is allocated for a file's row groups does not grow with their rows.
func TestWriteAllocatesNothingPerRow(t *testing.T) {
	cols := []stage.Column{
		{Name: "d", Type: extract.Type{Kind: extract.Decimal, Precision: 12}},
		{Name: "w", Type: extract.Type{Kind: extract.Decimal, Precision: 38}},
		{Name: "t", Type: extract.Type{Kind: extract.Timestamp}},
		{Name: "s", Type: extract.Type{Kind: extract.Text}},
	}
	b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
	for b.Rows < 4096 {
		b.Cols[0].AppendInt(int64(b.Rows))
		b.Cols[1].AppendWide(extract.NewInt128(int64(b.Rows)))
		b.Cols[2].AppendTime(int32(b.Rows), int64(b.Rows))
		b.Cols[3].AppendString("grade")
		b.Rows++
	}
	w, err := NewWriter(new(bytes.Buffer), cols, Options{})
	if err != nil {
		t.Fatal(err)
	}
	perBatch := testing.AllocsPerRun(50, func() {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	})
	if perRow := perBatch / 4096; perRow > 0.05 {
		t.Errorf("%.3f allocations a row, want none but those for pages", perRow)
	}
}

// Size foretells the file's length, so that chunks end where they should.
func TestSize(t *testing.T) {
	cols, list := mix(16, 5, 5000)
	var file bytes.Buffer
	w, err := NewWriter(&file, cols, Options{RowGroupBytes: 2 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if written := int64(file.Len()); w.Size() < written {
			t.Errorf("Size() = %d with %d bytes written", w.Size(), written)
		}
	}
	foretold := w.Size()
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if is := int64(file.Len()); foretold < is*9/10 || foretold > is*11/10 {
		t.Errorf("before Close Size() = %d, the file is %d bytes long", foretold, is)
	}
}

// fataler is what a test and a property have in common.
type fataler interface {
	Helper()
	Fatal(...any)
}

func footerOf(t fataler, file []byte) *format.FileMetaData {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f.Metadata()
}
