package parquet

import (
	"fmt"
	"reflect"
	"strings"

	pq "github.com/parquet-go/parquet-go"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// schemaName is the name of the root, which no reader looks at.
const schemaName = "loadctl"

// row is a group whose fields keep their order: parquet.Group sorts them by name.
type row struct {
	pq.Group
	fields []pq.Field
}

func (r row) Fields() []pq.Field { return r.fields }

// field is a column of the row.
type field struct {
	pq.Node
	name string
}

func (f field) Name() string { return f.name }

// Value is part of parquet.Field for rows that are Go values; ours never are.
func (f field) Value(base reflect.Value) reflect.Value { return base }

// newSchema is the profile's schema for these columns.
func newSchema(cols []stage.Column) (*pq.Schema, error) {
	r := row{Group: pq.Group{}}
	for _, c := range cols {
		if _, twice := r.Group[c.Name]; twice {
			return nil, fmt.Errorf("column %q is there twice", c.Name)
		}
		leaf, err := newLeaf(c)
		if err != nil {
			return nil, err
		}
		n := pq.Optional(leaf)
		r.Group[c.Name] = n
		r.fields = append(r.fields, field{Node: n, name: c.Name})
	}
	if len(r.fields) == 0 {
		return nil, fmt.Errorf("there is no column")
	}
	return pq.NewSchema(schemaName, r), nil
}

func newLeaf(c stage.Column) (pq.Node, error) {
	switch c.Type.Kind {
	case extract.Decimal:
		if p, s := c.Type.Precision, c.Type.Scale; p < 1 || p > extract.MaxPrecision || s < 0 || s > p {
			return nil, fmt.Errorf("column %q: no file holds %v: %w", c.Name, c.Type, extract.ErrUnsupported)
		}
		n := pq.Decimal(c.Type.Scale, c.Type.Precision, pq.FixedLenByteArrayType(decimalLength(c.Type.Precision)))
		return pq.Encoded(n, &pq.Plain), nil
	case extract.Timestamp:
		return pq.Encoded(pq.Leaf(pq.Int96Type), &pq.Plain), nil
	case extract.Text:
		return pq.Encoded(pq.String(), &pq.RLEDictionary), nil
	case extract.Binary:
		return pq.Encoded(pq.Leaf(pq.ByteArrayType), &pq.Plain), nil
	case extract.Float32:
		return pq.Encoded(pq.Leaf(pq.FloatType), &pq.Plain), nil
	case extract.Float64:
		return pq.Encoded(pq.Leaf(pq.DoubleType), &pq.Plain), nil
	default:
		return nil, fmt.Errorf("column %q: no file holds %v: %w", c.Name, c.Type, extract.ErrUnsupported)
	}
}

// decimalLength is the least number of bytes that hold every decimal of so many digits in two's complement:
// Hive and parquet-mr expect exactly it.
func decimalLength(precision int) int {
	for n := 1; ; n++ {
		if _, ok := largest(precision).AppendFixed(nil, n); ok {
			return n
		}
	}
}

// largest is 10^precision - 1, for a precision of 1..38.
func largest(precision int) extract.Int128 {
	n, err := extract.ParseDecimal(strings.Repeat("9", precision), extract.Type{Kind: extract.Decimal, Precision: precision})
	if err != nil { // the text is one of its own
		panic(err)
	}
	return n
}
