package parquet

import (
	"encoding/binary"
	"io"
	"reflect"

	"github.com/klauspost/compress/s2"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// reference writes a file by parquet-go, in the same profile as far as that goes: a referee for content, and a bar for
// speed.
type reference struct {
	w       *pq.GenericWriter[any]
	columns []referenceColumn
}

// referenceColumn turns a Vector into parquet.Values, a window at a time.
type referenceColumn struct {
	index  int
	typ    extract.Type
	width  int
	values []pq.Value
	arena  []byte
}

const referenceWindow = 1024

// row is a group whose fields keep their order: parquet.Group sorts them by name.
type row struct {
	pq.Group
	fields []pq.Field
}

func (r row) Fields() []pq.Field { return r.fields }

type field struct {
	pq.Node
	name string
}

func (f field) Name() string                           { return f.name }
func (f field) Value(base reflect.Value) reflect.Value { return base }

// quickSnappy is parquet-go's Snappy with the encoder that Writer has: its own takes twice the time.
type quickSnappy struct{ snappy.Codec }

func (*quickSnappy) Encode(dst, src []byte) ([]byte, error) {
	return s2.EncodeSnappy(dst[:cap(dst)], src), nil
}

func newReference(w io.Writer, cols []stage.Column) *reference {
	r := row{Group: pq.Group{}}
	out := &reference{}
	for i, c := range cols {
		n := pq.Optional(referenceLeaf(c.Type))
		r.Group[c.Name] = n
		r.fields = append(r.fields, field{Node: n, name: c.Name})
		width := int96Length
		if c.Type.Kind == extract.Decimal {
			width = decimalLength(c.Type.Precision)
		}
		out.columns = append(out.columns, referenceColumn{
			index: i, typ: c.Type, width: width, values: make([]pq.Value, referenceWindow), arena: make([]byte, referenceWindow*width),
		})
	}
	out.w = pq.NewGenericWriter[any](w, pq.NewSchema(schemaName, r), pq.Compression(new(quickSnappy)), pq.DataPageVersion(1),
		pq.DataPageStatistics(false), pq.PageBufferSize(64<<10), pq.DictionaryMaxBytes(512<<10), pq.KeyValueMetadata(calendarKey, "proleptic"))
	return out
}

func referenceLeaf(t extract.Type) pq.Node {
	leaf := map[extract.Kind]pq.Node{
		extract.Timestamp: pq.Leaf(pq.Int96Type), extract.Text: pq.String(), extract.Binary: pq.Leaf(pq.ByteArrayType),
		extract.Float32: pq.Leaf(pq.FloatType), extract.Float64: pq.Leaf(pq.DoubleType),
	}[t.Kind]
	switch t.Kind {
	case extract.Decimal:
		leaf = pq.Decimal(t.Scale, t.Precision, pq.FixedLenByteArrayType(decimalLength(t.Precision)))
	case extract.Text:
		return pq.Encoded(leaf, &pq.RLEDictionary)
	}
	return pq.Encoded(leaf, &pq.Plain)
}

func (r *reference) write(b *extract.Batch) error {
	for i, out := range r.w.ColumnWriters() {
		if err := r.columns[i].write(out, &b.Cols[i], b.Rows); err != nil {
			return err
		}
	}
	return nil
}

func (r *reference) close() error { return r.w.Close() }

func (c *referenceColumn) write(out *pq.ColumnWriter, v *extract.Vector, rows int) error {
	for from := 0; from < rows; from += referenceWindow {
		to := min(from+referenceWindow, rows)
		for i := from; i < to; i++ {
			value, level := c.value(v, i, i-from), 1
			if v.IsNull(i) {
				value, level = pq.NullValue(), 0
			}
			c.values[i-from] = value.Level(0, level, c.index)
		}
		if _, err := out.WriteRowValues(c.values[:to-from]); err != nil {
			return err
		}
	}
	return nil
}

func (c *referenceColumn) value(v *extract.Vector, i, slot int) pq.Value {
	switch c.typ.Kind {
	case extract.Decimal:
		p, _ := v.DecimalAt(i).AppendFixed(c.arena[slot*c.width:slot*c.width], c.width)
		return pq.FixedLenByteArrayValue(p)
	case extract.Timestamp:
		p := c.arena[slot*c.width : (slot+1)*c.width]
		binary.LittleEndian.PutUint64(p, uint64(v.Nano[i]))
		binary.LittleEndian.PutUint32(p[8:], uint32(v.Day[i]+julianEpoch))
		return pq.FixedLenByteArrayValue(p)
	case extract.Float32:
		return pq.FloatValue(v.F32[i])
	case extract.Float64:
		return pq.DoubleValue(v.F64[i])
	default:
		return pq.ByteArrayValue(v.At(i))
	}
}
