package store

import (
	"slices"
	"sync/atomic"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// part is the storage of one partition until it is truncated or exchanged. The rows themselves are those of
// the segment: keys and locks hold for the table.
type part struct {
	object uint32 // data object number
	gone   atomic.Bool
	slots  []int // of its rows; guarded by Table.mu, only ever appended to
}

func (s *Store) newPart() *part { return &part{object: s.objects.Add(1)} }

// newRow makes the row that comes next, in a partition if there are any.
func (seg *segment) newRow(i int) *row {
	if len(seg.parts) == 0 {
		return &row{}
	}
	p := seg.parts[i]
	r := &row{part: p, pos: len(p.slots)}
	p.slots = append(p.slots, len(seg.rows))
	return r
}

// Parts is how many partitions the table has.
func (t *Table) Parts() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.seg.parts)
}

// PartObject is the number in the ROWIDs of a partition; a truncation or exchange changes it.
func (t *Table) PartObject(i int) uint32 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.seg.parts[i].object
}

// PartBlocks is how many blocks a partition fills.
func (t *Table) PartBlocks(i int) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.blocksOf(len(t.seg.parts[i].slots))
}

// PartOf is the partition that the row of a slot is in.
func (c *Cursor) PartOf(slot int) int {
	c.t.mu.RLock()
	defer c.t.mu.RUnlock()
	return slices.Index(c.seg.parts, c.rows[slot].part)
}

// Only lets the cursor read some partitions. It comes before Narrow.
func (c *Cursor) Only(parts []int) {
	c.t.mu.RLock()
	defer c.t.mu.RUnlock()
	c.choose(func(yield func(p *part, from, to int)) {
		for _, i := range parts {
			p := c.seg.parts[i]
			yield(p, 0, len(p.slots))
		}
	})
}

// choose sets the slots to read, from ranges of places in partitions. Callers hold the table's mu.
func (c *Cursor) choose(ranges func(yield func(p *part, from, to int))) {
	c.chosen = []int{}
	ranges(func(p *part, from, to int) {
		if from < to {
			c.chosen = append(c.chosen, p.slots[from:to]...)
		}
	})
	c.chosen = slices.DeleteFunc(c.chosen, func(slot int) bool { return slot >= len(c.rows) })
	slices.Sort(c.chosen)
	c.next, c.end = 0, len(c.chosen)
}

// chooseByRowID narrows to what limits on the ROWID leave of each partition, if there are any.
func (c *Cursor) chooseByRowID(limits []Limit) {
	limited := slices.ContainsFunc(limits, func(l Limit) bool { return l.Column == RowIDColumn })
	if !limited || c.chosen != nil {
		return
	}
	c.choose(func(yield func(p *part, from, to int)) {
		for _, p := range c.seg.parts {
			from, to := 0, len(p.slots)
			for _, l := range limits {
				if l.Column == RowIDColumn {
					low, high := slotRange(l, p.object, c.t.st.opts.RowsPerBlock, len(p.slots))
					from, to = max(from, low), min(to, high)
				}
			}
			yield(p, from, to)
		}
	})
}

// TruncatePart empties a partition; a reader in the middle of it gets ORA-08103.
func (s *Store) TruncatePart(t *Table, i int) error {
	return s.ddl(t, Altered, func(scn uint64) { s.replacePart(t, i, s.newPart(), scn) })
}

// AddPart adds an empty partition.
func (s *Store) AddPart(t *Table) error {
	return s.ddl(t, Altered, func(uint64) { t.seg.parts = append(slices.Clone(t.seg.parts), s.newPart()) })
}

// replacePart takes a partition's rows out and puts an empty one in its place. Callers hold s.mu and t.mu.
func (s *Store) replacePart(t *Table, i int, with *part, scn uint64) {
	seg, old := t.seg, t.seg.parts[i]
	for _, slot := range old.slots {
		if v := seg.rows[slot].head.Load(); v != nil && v.vals != nil {
			s.record(Change{SCN: scn, Table: t.name, Kind: RowChanged, Object: old.object, Slot: slot, Before: v.vals})
		}
	}
	old.gone.Store(true)
	seg.oldParts = append(seg.oldParts[:len(seg.oldParts):len(seg.oldParts)], old)
	seg.parts = slices.Clone(seg.parts)
	seg.parts[i] = with
}

// ExchangePart swaps the rows of a partition with those of a table that has none. Readers of either get
// ORA-08103. Keys are not checked.
func (s *Store) ExchangePart(t *Table, i int, with *Table) error {
	if with.busy() {
		return ora.Errorf(54, "resource busy and acquire with NOWAIT specified or timeout expired")
	}
	return s.ddl(t, Altered, func(scn uint64) {
		with.mu.Lock() // the only place that holds two: s.mu keeps others out
		defer with.mu.Unlock()
		inside, outside := t.seg.liveRows(t.seg.parts[i].slots), with.seg.liveRows(with.seg.allSlots())
		oldObject, newObject := t.seg.parts[i].object, with.seg.object
		s.replacePart(t, i, &part{object: newObject}, scn)
		for _, vals := range outside {
			s.place(t, i, vals, scn)
		}
		old := with.seg
		with.seg = &segment{object: oldObject}
		for _, x := range old.indexes {
			with.seg.indexes = append(with.seg.indexes, newIndex(x.Name, x.columns, x.unique))
		}
		old.gone.Store(true)
		with.ddlSCN.Store(scn)
		s.record(Change{SCN: scn, Table: with.name, Kind: Truncated, Columns: with.columns, Fill: with.fill, Object: oldObject})
		for _, vals := range inside {
			s.place(with, 0, vals, scn)
		}
	})
}

// busy says whether a transaction holds a lock on the table.
func (t *Table) busy() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.lockers > 0
}

func (seg *segment) allSlots() []int {
	slots := make([]int, len(seg.rows))
	for i := range slots {
		slots[i] = i
	}
	return slots
}

// liveRows is the newest committed values of the rows of some slots.
func (seg *segment) liveRows(slots []int) [][]ora.Value {
	var list [][]ora.Value
	for _, slot := range slots {
		if v := seg.rows[slot].head.Load(); v != nil && v.vals != nil && v.scn.Load() != 0 {
			list = append(list, v.vals)
		}
	}
	return list
}

// place adds a committed row. Callers hold s.mu and t.mu.
func (s *Store) place(t *Table, i int, vals []ora.Value, scn uint64) {
	r, slot := t.seg.newRow(i), len(t.seg.rows)
	v := &version{vals: vals}
	v.scn.Store(scn)
	r.head.Store(v)
	t.seg.rows = append(t.seg.rows, r)
	t.enter(slot, nil, vals)
	for _, x := range t.seg.indexes {
		if key, ok := x.key(t.pad(vals)); ok && x.unique {
			x.slots[key] = slot
		}
	}
	s.record(Change{SCN: scn, Table: t.name, Kind: RowChanged, Object: t.seg.object, Slot: slot, After: vals})
}
