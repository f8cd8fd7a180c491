package store

import (
	"sync"
	"sync/atomic"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Name is the full name of a table.
type Name struct{ Owner, Table string }

// Table is a heap of rows. Rows are named by slot, their place in insertion order, which never changes.
type Table struct {
	st     *Store
	name   Name
	ddlSCN atomic.Uint64 // of the last definition change

	mu      sync.RWMutex // guards the rest
	seg     *segment
	columns []ora.Column
	fill    []ora.Value // what rows older than a column read as in it
	lockers int         // transactions that hold a lock here
}

// segment is the storage of a table between two truncations.
type segment struct {
	object  uint32 // data object number
	gone    atomic.Bool
	rows    []*row // guarded by Table.mu; only ever appended to
	indexes []*index
	parts   []*part // of a partitioned table

	oldParts []*part // those that were replaced; their rows are still among rows
}

type row struct {
	part   *part // nil: the table has none
	pos    int   // place in the part
	head   atomic.Pointer[version]
	locker atomic.Pointer[Tx] // set under Table.mu, freed by its owner at any time
}

// version is one state of a row, newest first. Its values never change once it can be seen.
type version struct {
	scn  atomic.Uint64 // 0 until committed
	tx   uint64
	seq  uint32      // statement of the transaction that made it
	vals []ora.Value // nil: deleted
	prev atomic.Pointer[version]
}

// CreateTable makes an empty table.
func (s *Store) CreateTable(name Name, columns []ora.Column) *Table {
	return s.CreatePartitioned(name, columns, 0)
}

// CreatePartitioned makes an empty table of some partitions; 0: it has none.
func (s *Store) CreatePartitioned(name Name, columns []ora.Column, parts int) *Table {
	t := &Table{st: s, name: name, columns: columns, fill: make([]ora.Value, len(columns))}
	t.seg = s.newSegment(parts)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[t] = struct{}{}
	s.advance(func(scn uint64) {
		t.ddlSCN.Store(scn)
		s.record(Change{SCN: scn, Table: name, Kind: Created, Columns: columns, Fill: t.fill, Object: t.seg.object})
	})
	return t
}

// Columns describes the rows.
func (t *Table) Columns() []ora.Column {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.columns
}

// DataObject is the number in the table's ROWIDs; a truncation changes it.
func (t *Table) DataObject() uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.seg.object
}

// DDLSCN is the SCN of the last definition change.
func (t *Table) DDLSCN() uint64 { return t.ddlSCN.Load() }

// Blocks is how many blocks the rows fill.
func (t *Table) Blocks() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.seg.parts) == 0 {
		return t.blocksOf(len(t.seg.rows))
	}
	n := 0
	for _, p := range t.seg.parts {
		n += t.blocksOf(len(p.slots))
	}
	return n
}

// RowsPerBlock is how many rows a block holds.
func (t *Table) RowsPerBlock() int { return t.st.opts.RowsPerBlock }

// DataFile is the one file that everything is in, and FirstBlock the block of slot 0.
const (
	DataFile   = 4
	FirstBlock = 131
)

func (t *Table) blocksOf(rows int) int {
	return (rows + t.st.opts.RowsPerBlock - 1) / t.st.opts.RowsPerBlock
}

// RowID is the ROWID of a slot of the table's present segment; a partitioned table has others.
func (t *Table) RowID(slot int) ora.RowID { return rowID(t.DataObject(), slot, t.st.opts.RowsPerBlock) }

func rowID(object uint32, slot, rowsPerBlock int) ora.RowID {
	return ora.RowID{
		Object: object, File: DataFile,
		Block: uint32(FirstBlock + slot/rowsPerBlock), Slot: uint16(slot % rowsPerBlock),
	}
}

// pad gives a row that is older than the newest columns the values it reads as in them.
func (t *Table) pad(vals []ora.Value) []ora.Value { return padWith(vals, t.fill) }

func padWith(vals, fill []ora.Value) []ora.Value {
	if len(vals) >= len(fill) {
		return vals
	}
	full := make([]ora.Value, len(fill))
	n := copy(full, vals)
	copy(full[n:], fill[n:])
	return full
}
