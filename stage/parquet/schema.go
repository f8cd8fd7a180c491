package parquet

import (
	"fmt"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// schemaName is the name of the root, which no reader looks at.
const schemaName = "loadctl"

// newSchema is the profile's schema for these columns: the root, then a leaf each.
func newSchema(cols []stage.Column, timestamps Timestamps) ([]format.SchemaElement, error) {
	if len(cols) == 0 {
		return nil, fmt.Errorf("there is no column")
	}
	if timestamps > Int64Micros {
		return nil, fmt.Errorf("form %d of timestamps: unknown", timestamps)
	}
	schema := []format.SchemaElement{{Name: schemaName, NumChildren: thrift.New(int32(len(cols)))}}
	names := make(map[string]bool, len(cols))
	for _, c := range cols {
		if names[c.Name] {
			return nil, fmt.Errorf("column %q is there twice", c.Name)
		}
		names[c.Name] = true
		leaf, err := newLeaf(c, timestamps)
		if err != nil {
			return nil, err
		}
		schema = append(schema, leaf)
	}
	return schema, nil
}

// newLeaf describes a column. Annotations are written in the old form and the new, where there are both.
func newLeaf(c stage.Column, timestamps Timestamps) (format.SchemaElement, error) {
	e := format.SchemaElement{Name: c.Name, RepetitionType: thrift.New(format.Optional)}
	switch c.Type.Kind {
	case extract.Decimal:
		p, s := c.Type.Precision, c.Type.Scale
		if p < 1 || p > extract.MaxPrecision || s < 0 || s > p {
			return e, fmt.Errorf("column %q: no file holds %v: %w", c.Name, c.Type, extract.ErrUnsupported)
		}
		e.Type, e.TypeLength = thrift.New(format.FixedLenByteArray), thrift.New(int32(decimalLength(p)))
		e.ConvertedType = thrift.New(deprecated.Decimal)
		e.Precision, e.Scale = thrift.New(int32(p)), thrift.New(int32(s))
		e.LogicalType.Value = &format.DecimalType{Precision: int32(p), Scale: int32(s)}
	case extract.Timestamp:
		e.Type = thrift.New(format.Int96)
		if timestamps == Int64Micros { // the old form would say that they are UTC
			e.Type = thrift.New(format.Int64)
			e.LogicalType.Value = &format.TimestampType{Unit: format.TimeUnit{Value: new(format.MicroSeconds)}}
		}
	case extract.Text:
		e.Type, e.ConvertedType = thrift.New(format.ByteArray), thrift.New(deprecated.UTF8)
		e.LogicalType.Value = new(format.StringType)
	case extract.Binary:
		e.Type = thrift.New(format.ByteArray)
	case extract.Float32:
		e.Type = thrift.New(format.Float)
	case extract.Float64:
		e.Type = thrift.New(format.Double)
	default:
		return e, fmt.Errorf("column %q: no file holds %v: %w", c.Name, c.Type, extract.ErrUnsupported)
	}
	return e, nil
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
