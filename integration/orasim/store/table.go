package store

import (
	"encoding/binary"
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
}

type row struct {
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

// index keeps a unique key: which slot holds, or last held, each value.
type index struct {
	Name    string // of the constraint, OWNER.NAME
	columns []int
	slots   map[string]int
}

// CreateTable makes an empty table.
func (s *Store) CreateTable(name Name, columns []ora.Column) *Table {
	t := &Table{st: s, name: name, columns: columns, fill: make([]ora.Value, len(columns))}
	t.seg = s.newSegment()
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
	n := t.st.opts.RowsPerBlock
	return (len(t.seg.rows) + n - 1) / n
}

// dataFile is the one file that everything is in, and firstBlock the block of slot 0.
const (
	dataFile   = 4
	firstBlock = 131
)

func rowID(object uint32, slot, rowsPerBlock int) ora.RowID {
	return ora.RowID{
		Object: object, File: dataFile,
		Block: uint32(firstBlock + slot/rowsPerBlock), Slot: uint16(slot % rowsPerBlock),
	}
}

// AddUnique adds a unique key over columns (by position); name is what ORA-00001 says. Rows that already
// break it are ORA-02299.
func (t *Table) AddUnique(name string, columns []int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := &index{Name: name, columns: columns, slots: make(map[string]int)}
	for slot, r := range t.seg.rows {
		v := r.head.Load()
		if v == nil || v.vals == nil {
			continue
		}
		key, ok := x.key(t.pad(v.vals))
		if !ok {
			continue
		}
		if _, taken := x.slots[key]; taken {
			return ora.Errorf(2299, "cannot validate (%s) - duplicate keys found", name)
		}
		x.slots[key] = slot
	}
	t.seg.indexes = append(t.seg.indexes, x)
	return nil
}

// DropUnique removes a unique key.
func (t *Table) DropUnique(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, x := range t.seg.indexes {
		if x.Name == name {
			t.seg.indexes = append(t.seg.indexes[:i:i], t.seg.indexes[i+1:]...)
			return
		}
	}
}

// key is the values of the columns as one string; ok is false when all are NULL, which no key forbids.
func (x *index) key(vals []ora.Value) (key string, ok bool) {
	var b []byte
	for _, c := range x.columns {
		b = binary.AppendUvarint(b, uint64(len(vals[c])))
		b = append(b, vals[c]...)
		ok = ok || len(vals[c]) > 0
	}
	return string(b), ok
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
