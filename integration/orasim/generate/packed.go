package generate

import (
	"fmt"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// longestPacked is the longest value that has a length of one byte on the wire.
const longestPacked = 252

// Packer appends rows of some columns as ora.Packed. It belongs to one goroutine.
type Packer struct {
	t      *Table
	pieces []piece
	packed []byte  // the cycle, piece after piece in each row
	starts []int32 // of each piece of each row, and the end
}

// piece is a run of columns: a Sequence, or several that the cycle holds ready.
type piece struct {
	sequence *Sequence
	columns  []int
}

// Pack prepares the rows of some columns. An error says which column cannot be packed.
func (t *Table) Pack(columns []int) (*Packer, error) {
	p := &Packer{t: t}
	for _, i := range columns {
		if s, ok := t.columns[i].Rule.(Sequence); ok {
			p.pieces = append(p.pieces, piece{sequence: &s})
			continue
		}
		if n := len(p.pieces); n == 0 || p.pieces[n-1].sequence != nil {
			p.pieces = append(p.pieces, piece{})
		}
		last := &p.pieces[len(p.pieces)-1]
		last.columns = append(last.columns, i)
	}
	for n := range t.cycle {
		if err := p.prepare(t.cycle[n]); err != nil {
			return nil, err
		}
	}
	p.starts = append(p.starts, int32(len(p.packed)))
	return p, nil
}

func (p *Packer) prepare(row []ora.Value) error {
	for _, piece := range p.pieces {
		p.starts = append(p.starts, int32(len(p.packed)))
		for _, i := range piece.columns {
			v := row[i]
			if len(v) > longestPacked {
				return fmt.Errorf("pack column %s: a value has %d bytes", p.t.columns[i].Name, len(v))
			}
			p.packed = append(append(p.packed, byte(len(v))), v...)
		}
	}
	return nil
}

// Append adds a row.
func (p *Packer) Append(dst *ora.Packed, n int64) {
	at := int(n%Cycle) * len(p.pieces)
	b := dst.Bytes
	for k := range p.pieces {
		if s := p.pieces[k].sequence; s != nil {
			from := len(b)
			b = appendInt(append(b, 0), s.Start+n*s.Step)
			b[from] = byte(len(b) - from - 1)
			continue
		}
		b = append(b, p.packed[p.starts[at+k]:p.starts[at+k+1]]...)
	}
	dst.Bytes = b
	dst.Ends = append(dst.Ends, len(b))
}
