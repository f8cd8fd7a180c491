package ttc

import "github.com/loadctl/loadctl/extract"

// decoder turns the rows of a reply into the columns of a batch. A row may be cut anywhere: what is whole of it stays in
// the vectors, which are then one value ahead of the batch's rows, and decoding goes on at the value that was cut.
type decoder struct {
	columns []decodedColumn
	texts   []int          // columns whose values lie in an arena
	vector  []byte         // columns of the next row that are in it; empty: all are
	at      int            // next column of the current row
	kept    *extract.Batch // the last row before the present batch, which a bit vector may refer to
	scratch []byte         // a value that came in chunks

	bigChunk bool // as of input
}

// decodedColumn is a column and what its values must be.
type decodedColumn struct {
	form form
	name string
	typ  extract.Type

	// dates cluster: the last one and its day
	date uint64
	day  int32
}

func newDecoder(columns []Column, as []extract.Column, bigChunk bool) (decoder, error) {
	d := decoder{columns: make([]decodedColumn, len(columns)), kept: extract.NewBatch(as, 0, 0), bigChunk: bigChunk}
	for i, c := range columns {
		f, err := formOf(c, as[i])
		if err != nil {
			return d, err
		}
		d.columns[i] = decodedColumn{form: f, name: as[i].Name, typ: as[i].Type}
		if as[i].Type.Kind == extract.Text || as[i].Type.Kind == extract.Binary {
			d.texts = append(d.texts, i)
		}
	}
	return d, nil
}

// abort forgets what has begun of a row, and the bit vector of a reply that has ended.
func (d *decoder) abort() { d.at, d.vector = 0, d.vector[:0] }

// remember keeps the last row of a batch.
func (d *decoder) remember(b *extract.Batch) {
	d.kept.Reset()
	for i := range b.Cols {
		repeat(&d.kept.Cols[i], &b.Cols[i], b.Rows-1)
	}
	d.kept.Rows = 1
}

// full is Batch.Full without a look at every column.
func (d *decoder) full(b *extract.Batch) bool {
	if b.Rows == 0 {
		return false
	}
	if b.MaxRows > 0 && b.Rows >= b.MaxRows {
		return true
	}
	if b.MaxBytes <= 0 {
		return false
	}
	n := 0
	for _, i := range d.texts {
		n += len(b.Cols[i].Arena)
	}
	return n >= b.MaxBytes
}

// rows decodes the rows that follow, up to another message or a full batch. before is how many rows came before b.
func (d *decoder) rows(in *input, b *extract.Batch, before int64) error {
	for !d.full(b) {
		switch m := in.message(); m {
		case msgBitVector:
			d.readVector(in)
		case msgRow:
			in.skip(1)
			if err := d.row(in, b, before); err != nil {
				return err
			}
		default:
			return in.err
		}
	}
	return nil
}

// readVector reads which columns the next row has.
func (d *decoder) readVector(in *input) {
	in.skip(1)
	in.int() // how many they are
	d.vector = append(d.vector[:0], in.raw((len(d.columns)+7)/8)...)
}

// row decodes one row, of which the message code has been read.
func (d *decoder) row(in *input, b *extract.Batch, before int64) error {
	if n := len(d.vector); n > 0 && n != (len(d.columns)+7)/8 {
		in.confused("a bit vector of %d bytes for %d columns", n, len(d.columns))
		return in.err
	}
	for d.at < len(d.columns) {
		next, value, why := d.values(in.buf[:in.end], in.pos, b)
		in.pos = next
		switch why {
		case fine:
			continue
		case short:
			if !in.fill() {
				return in.err
			}
			if in.void {
				d.abort()
				b.Truncate(b.Rows)
				return nil
			}
		case nonsense:
			in.confused("column %d of a row", d.at)
			return in.err
		default:
			return d.fault(before+int64(b.Rows)+1, value, why)
		}
	}
	d.abort()
	b.Rows++
	return nil
}

// values decodes the columns of a row that lie in buf from p on. It returns where the next one begins, and for a fault
// the value.
func (d *decoder) values(buf []byte, p int, b *extract.Batch) (next int, value []byte, why fault) {
	for ; d.at < len(d.columns); d.at++ {
		c, v := &d.columns[d.at], &b.Cols[d.at]
		if len(d.vector) > 0 && d.vector[d.at>>3]&(1<<(d.at&7)) == 0 {
			if !d.repeat(v, d.at, b.Rows) {
				return p, nil, nonsense
			}
			continue
		}
		if c.form == formNone {
			v.Null()
			continue
		}
		if p >= len(buf) {
			return p, nil, short
		}
		value, end, why := d.value(buf, p)
		if why != fine {
			return p, nil, why
		}
		if value == nil {
			v.Null()
		} else if why := c.put(v, value); why != fine {
			return p, value, why
		}
		p = end
	}
	return p, nil, fine
}

// value finds the value at buf[p], nil for NULL, and what follows it.
func (d *decoder) value(buf []byte, p int) (value []byte, end int, why fault) {
	switch n := buf[p]; n {
	case 0, nullString, nullOther:
		return nil, p + 1, fine
	case longString:
		return d.chunks(buf, p+1)
	default:
		if end = p + 1 + int(n); end > len(buf) {
			return nil, p, short
		}
		return buf[p+1 : end], end, fine
	}
}

// chunks finds a value that comes in chunks. One chunk is the value as it lies there; several are put together.
func (d *decoder) chunks(buf []byte, p int) (value []byte, end int, why fault) {
	for first := true; ; first = false {
		n, at, why := d.chunkLen(buf, p)
		if why != fine || n == 0 {
			return value, at, why
		}
		if p = at + n; p > len(buf) {
			return nil, p, short
		}
		switch {
		case first:
			value = buf[at:p]
		case len(value)+n > maxUnit:
			return nil, p, nonsense
		default:
			d.scratch = append(append(d.scratch[:0], value...), buf[at:p]...)
			value = d.scratch
		}
	}
}

// chunkLen reads the length of the chunk at buf[p].
func (d *decoder) chunkLen(buf []byte, p int) (n, at int, why fault) {
	if p >= len(buf) {
		return 0, p, short
	}
	n = int(buf[p])
	p++
	if !d.bigChunk {
		return n, p, fine
	}
	if n > 4 {
		return 0, p, nonsense
	}
	if p+n > len(buf) {
		return 0, p, short
	}
	length := 0
	for _, b := range buf[p : p+n] {
		length = length<<8 | int(b)
	}
	if length > maxUnit {
		return 0, p, nonsense
	}
	return length, p + n, fine
}

// repeat appends the value that the column had in the row before.
func (d *decoder) repeat(v *extract.Vector, column, row int) bool {
	switch {
	case row > 0:
		repeat(v, v, row-1)
	case d.kept.Rows > 0:
		repeat(v, &d.kept.Cols[column], 0)
	default:
		return false
	}
	return true
}

// repeat appends value i of from, which may be v itself.
func repeat(v, from *extract.Vector, i int) {
	switch {
	case from.IsNull(i):
		v.Null()
	case v.Type.Wide():
		v.AppendWide(from.Wide[i])
	case v.Type.Kind == extract.Decimal:
		v.AppendInt(from.Int[i])
	case v.Type.Kind == extract.Timestamp:
		v.AppendTime(from.Day[i], from.Nano[i])
	case v.Type.Kind == extract.Float32:
		v.AppendFloat32(from.F32[i])
	case v.Type.Kind == extract.Float64:
		v.AppendFloat64(from.F64[i])
	default:
		v.AppendBytes(from.At(i))
	}
}
