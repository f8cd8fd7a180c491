package publishtest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// Types of the suite's columns.
var (
	narrow  = extract.Type{Kind: extract.Decimal, Precision: 18, Scale: 2}
	whole38 = extract.Type{Kind: extract.Decimal, Precision: 38}
	ratio   = extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 10}
	tiny    = extract.Type{Kind: extract.Decimal, Precision: 38, Scale: 30}
	times   = extract.Type{Kind: extract.Timestamp, Scale: 9}
	text    = extract.Type{Kind: extract.Text, Length: 400}
	binary  = extract.Type{Kind: extract.Binary}
	single  = extract.Type{Kind: extract.Float32}
	double  = extract.Type{Kind: extract.Float64}
)

// column is a column whose source name is its own.
func column(name string, t extract.Type) stage.Column {
	return stage.Column{Name: name, Source: name, Type: t}
}

// row is one value a column: nil is NULL, decimals and timestamps are canonical text.
type row []any

// parquet makes a staged file of rows.
func (h Harness) parquet(t *testing.T, cols []stage.Column, rows []row) []byte {
	t.Helper()
	b := extract.NewBatch(stage.SourceColumns(cols), 0, 0)
	for _, r := range rows {
		for i := range cols {
			if err := add(&b.Cols[i], r[i]); err != nil {
				t.Fatalf("column %s: %v", cols[i].Name, err)
			}
		}
		b.Rows++
	}
	var out bytes.Buffer
	w, err := h.Format.Writer(&out, cols)
	if err != nil {
		t.Fatal(err)
	}
	if b.Rows > 0 {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func add(v *extract.Vector, value any) error {
	switch x := value.(type) {
	case nil:
		v.Null()
	case []byte:
		v.AppendBytes(x)
	case float32:
		v.AppendFloat32(x)
	case float64:
		v.AppendFloat64(x)
	case string:
		return addText(v, x)
	default:
		return fmt.Errorf("a value of type %T", value)
	}
	return nil
}

func addText(v *extract.Vector, s string) error {
	switch v.Type.Kind {
	case extract.Decimal:
		n, err := extract.ParseDecimal(s, v.Type)
		if err != nil {
			return err
		}
		if v.Type.Wide() {
			v.AppendWide(n)
			return nil
		}
		i, _ := n.Int64()
		v.AppendInt(i)
	case extract.Timestamp:
		day, nano, err := extract.ParseTimestamp(s)
		if err != nil {
			return err
		}
		v.AppendTime(day, nano)
	default:
		v.AppendString(s)
	}
	return nil
}
