package sql

import (
	"context"
	"io"
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/generate"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// generatedSource reads a generator table. The table of the store that it embeds has no rows: it is what gives
// the generated ones their ROWIDs and says from which SCN on they exist.
type generatedSource struct {
	tableSource
	made   *generate.Table
	stream bool // rows are looked at one by one and not kept
}

// narrow takes bounds on the key and on the ROWID, which it then keeps to exactly.
func (s *generatedSource) narrow(bounds []bound) (exact bool) {
	for _, b := range bounds {
		if b.column != store.RowIDColumn && (b.column != s.made.Key() || !s.made.Ascending()) {
			return false
		}
	}
	return s.tableSource.narrow(bounds) || len(bounds) > 0
}

func (s *generatedSource) open(x *execution, outer *frame) (rows, error) {
	from, to, err := s.rowRange(x, outer)
	if err != nil {
		return nil, err
	}
	return &generatedRows{s: s, x: x, at: from, end: to}, nil
}

// rowRange is the rows that the bounds leave, after the checks that any table makes of the SCN.
func (s *generatedSource) rowRange(x *execution, outer *frame) (from, to int64, err error) {
	if _, err := s.scan(x, outer); err != nil {
		return 0, 0, err
	}
	from, to = 0, s.made.Rows()
	f := &frame{x: x, outer: outer}
	for _, b := range s.bounds {
		v, err := b.x.eval(f)
		if err != nil || len(v) == 0 {
			return 0, 0, err
		}
		low, high, err := s.rowsWithin(b, v)
		if err != nil {
			return 0, 0, err
		}
		from, to = max(from, low), min(to, high)
	}
	return from, max(from, to), nil
}

func (s *generatedSource) rowsWithin(b bound, v ora.Value) (from, to int64, err error) {
	if b.column == store.RowIDColumn {
		from, to = s.slotsWithin(b.op, v)
		return from, to, nil
	}
	n, err := ora.DecodeNumber(v)
	if err != nil {
		return 0, 0, err
	}
	low, high := wholeBounds(b.op, n)
	from, to = s.made.Range(low, high)
	return from, to, nil
}

// slotsWithin is the rows whose ROWIDs compare so with one.
func (s *generatedSource) slotsWithin(op string, v ora.Value) (from, to int64) {
	rows := int(s.made.Rows())
	notBelow, _ := s.table.SlotRange(store.Limit{Low: v}, rows)
	_, above := s.table.SlotRange(store.Limit{High: v}, rows)
	from, to = 0, s.made.Rows()
	switch op {
	case "=":
		return int64(notBelow), int64(above)
	case ">=":
		from = int64(notBelow)
	case ">":
		from = int64(above)
	case "<=":
		to = int64(above)
	case "<":
		to = int64(notBelow)
	}
	return from, to
}

// wholeBounds is the integers that compare so with a number, from low to high; nil is no bound.
func wholeBounds(op string, n ora.Num) (low, high *int64) {
	floor := clamp(n, ora.Num.Floor)
	ceil := clamp(n, ora.Num.Ceil)
	switch op {
	case "=":
		return &ceil, &floor
	case ">=":
		return &ceil, nil
	case ">":
		floor++
		return &floor, nil
	case "<=":
		return nil, &floor
	}
	ceil--
	return nil, &ceil
}

// clamp rounds a number to an integer; one that no key reaches becomes one that no key reaches either.
func clamp(n ora.Num, round func(ora.Num) (ora.Num, error)) int64 {
	const beyond = 1 << 60
	r, err := round(n)
	i, ok := r.Int64()
	if err == nil && ok && i > -beyond && i < beyond {
		return i
	}
	return int64(n.Sign()) * beyond
}

// generatedRows makes the rows of a range.
type generatedRows struct {
	s       *generatedSource
	x       *execution
	at, end int64
	row     []ora.Value
	arena   []byte
}

// arenaSize is how many bytes of keys are allocated at a time.
const arenaSize = 16 << 10

func (r *generatedRows) next() ([]ora.Value, error) {
	if err := r.x.tick(); err != nil {
		return nil, err
	}
	if r.at >= r.end {
		return nil, io.EOF
	}
	if cap(r.arena)-len(r.arena) < 256 {
		r.arena = make([]byte, 0, arenaSize)
	}
	if !r.s.stream {
		r.row = make([]ora.Value, 0, r.s.columns+1)
	}
	n := r.at
	r.at++
	r.row, r.arena = r.s.made.Row(n, r.row[:0], r.arena)
	if r.s.withRowid {
		r.row = append(r.row, r.s.table.RowID(int(n)).Encode())
	}
	return r.row, nil
}

// packedRows is the rows of a plain list of columns of a generator table, which the wire can take packed.
type packedRows struct {
	generatedRows
	columns []int
	packer  *generate.Packer
	out     []ora.Value
}

func (r *packedRows) next() ([]ora.Value, error) {
	row, err := r.generatedRows.next()
	if err != nil {
		return nil, err
	}
	r.out = r.out[:0]
	for _, at := range r.columns {
		r.out = append(r.out, row[at])
	}
	return r.out, nil
}

// packable lets a block that only projects columns of a generator table yield packed rows.
func (p *blockPlan) packable(plan *subplan) {
	src, ok := p.src.(*generatedSource)
	if !ok || p.connect != nil || p.group != nil || p.distinct || len(p.where)+len(p.rownum)+len(p.order)+len(p.windows.list) > 0 {
		return
	}
	var columns []int
	for _, x := range p.items {
		if !x.column || x.slot >= src.columns {
			return
		}
		columns = append(columns, x.slot)
	}
	packer, err := src.made.Pack(columns)
	if err != nil {
		return // a long value: row by row
	}
	plan.open = func(x *execution, outer *frame, reuse bool) (rows, error) {
		if !reuse {
			return p.open(x, outer, reuse)
		}
		from, to, err := src.rowRange(x, outer)
		if err != nil {
			return nil, err
		}
		return &packedRows{generatedRows: generatedRows{s: src, x: x, at: from, end: to}, columns: columns, packer: packer}, nil
	}
}

// packedCursor is a cursor over packedRows. It implements ora.PackedSource.
type packedCursor struct {
	cursor
	packed *packedRows
}

// NextPacked appends up to n rows.
func (c *packedCursor) NextPacked(ctx context.Context, dst *ora.Packed, n int) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	c.x.ctx = ctx
	r := c.packed
	if c.err = r.x.interrupted(); c.err != nil {
		return 0, c.err
	}
	count := min(int64(n), r.end-r.at)
	if count <= 0 {
		c.err = io.EOF
		return 0, c.err
	}
	dst.Bytes = slices.Grow(dst.Bytes, int(count)*64)
	for range count {
		r.packer.Append(dst, r.at)
		r.at++
	}
	return int(count), nil
}
