package store

import (
	"context"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Tx is a transaction: the versions it has made, the rows it has locked. It belongs to one goroutine.
type Tx struct {
	st     *Store
	id     uint64
	seq    uint32 // number of the current statement
	writes []write
	locked []*row
	tables map[*Table]struct{}
	done   chan struct{} // closed when its locks are free
	killed <-chan struct{}
}

// write is one new version and how to take it back.
type write struct {
	t    *Table
	seg  *segment
	slot int
	v    *version
	keys []keyMove
}

// keyMove is an entry of an index that a write took over.
type keyMove struct {
	x     *index
	key   string
	owner int // before; -1: none
}

// Begin starts a transaction. When killed, which may be nil, is closed, its waits for locks end with ORA-00028.
func (s *Store) Begin(killed <-chan struct{}) *Tx {
	return &Tx{st: s, id: s.txIDs.Add(1), tables: make(map[*Table]struct{}), done: make(chan struct{}), killed: killed}
}

// ID identifies the transaction.
func (tx *Tx) ID() uint64 { return tx.id }

// Empty says whether it has neither changed nor locked anything.
func (tx *Tx) Empty() bool { return len(tx.writes) == 0 && len(tx.locked) == 0 }

// Savepoint starts a statement and returns the point to which RollbackTo can go back.
func (tx *Tx) Savepoint() int {
	tx.seq++
	return len(tx.writes)
}

// RollbackTo undoes what was written since a savepoint. Row locks stay, as Oracle keeps them for others that
// already wait.
func (tx *Tx) RollbackTo(point int) {
	for i := len(tx.writes) - 1; i >= point; i-- {
		tx.undo(&tx.writes[i])
	}
	tx.writes = tx.writes[:point]
}

func (tx *Tx) undo(w *write) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	for i := len(w.keys) - 1; i >= 0; i-- {
		k := w.keys[i]
		if k.owner < 0 {
			delete(k.x.slots, k.key)
		} else {
			k.x.slots[k.key] = k.owner
		}
	}
	w.seg.rows[w.slot].head.Store(w.v.prev.Load())
}

// Rollback undoes everything and frees the locks.
func (tx *Tx) Rollback() {
	tx.RollbackTo(0)
	tx.release()
}

// Commit makes every change visible at one new SCN, which it returns; without a change it returns the current
// one. The transaction cannot be used again.
func (tx *Tx) Commit() uint64 {
	if len(tx.writes) == 0 {
		tx.release()
		return tx.st.SCN()
	}
	tx.st.mu.Lock()
	scn := tx.st.advance(func(scn uint64) {
		for i := range tx.writes {
			w := &tx.writes[i]
			w.v.scn.Store(scn)
			tx.st.record(w.change(scn))
		}
	})
	tx.st.mu.Unlock()
	tx.release()
	return scn
}

func (w *write) change(scn uint64) Change {
	c := Change{SCN: scn, Table: w.t.name, Kind: RowChanged, Object: w.seg.object, Slot: w.slot, After: w.v.vals}
	if prev := w.v.prev.Load(); prev != nil {
		c.Before = prev.vals
	}
	return c
}

// release frees the locks and wakes who waits.
func (tx *Tx) release() {
	for t := range tx.tables {
		t.mu.Lock()
		t.lockers--
		t.mu.Unlock()
	}
	for _, l := range tx.locked {
		l.locker.Store(nil)
	}
	tx.writes, tx.locked = nil, nil
	clear(tx.tables)
	close(tx.done)
}

// Insert adds a row. vals must not change afterwards. ORA-00001 when a key is taken.
func (tx *Tx) Insert(ctx context.Context, t *Table, vals []ora.Value) error {
	return tx.InsertInto(ctx, t, 0, vals)
}

// InsertInto adds a row to a partition; a table that has none takes 0.
func (tx *Tx) InsertInto(ctx context.Context, t *Table, part int, vals []ora.Value) error {
	t.mu.Lock()
	tx.join(t)
	r := t.seg.newRow(part)
	r.locker.Store(tx)
	v := &version{tx: tx.id, seq: tx.seq, vals: vals}
	r.head.Store(v)
	w := write{t: t, seg: t.seg, slot: len(t.seg.rows), v: v}
	t.seg.rows = append(t.seg.rows, r)
	t.enter(w.slot, nil, vals)
	tx.locked = append(tx.locked, r)
	tx.writes = append(tx.writes, w)
	t.mu.Unlock()
	return tx.claimKeys(ctx, &tx.writes[len(tx.writes)-1], nil)
}

// RowChange is a new state of a row: Vals nil deletes it.
type RowChange struct {
	Slot int
	Vals []ora.Value
}

// Apply changes rows that Lock has locked. Keys are checked after all are written, so that an UPDATE may move
// a key from one row to another.
func (tx *Tx) Apply(ctx context.Context, t *Table, changes []RowChange) error {
	from := len(tx.writes)
	t.mu.Lock()
	for _, c := range changes {
		r := t.seg.rows[c.Slot]
		v := &version{tx: tx.id, seq: tx.seq, vals: c.Vals}
		prev := r.head.Load()
		v.prev.Store(prev)
		t.enter(c.Slot, prev, c.Vals) // before it can be seen: a reader finds what it may see
		r.head.Store(v)
		tx.writes = append(tx.writes, write{t: t, seg: t.seg, slot: c.Slot, v: v})
	}
	t.mu.Unlock()
	for i := from; i < len(tx.writes); i++ {
		w := &tx.writes[i]
		if w.v.vals == nil {
			continue
		}
		var before []ora.Value
		if prev := w.v.prev.Load(); prev != nil {
			before = prev.vals
		}
		if err := tx.claimKeys(ctx, w, before); err != nil {
			return err
		}
	}
	return nil
}

// claimKeys takes the keys of a new version, except those that the row had before.
func (tx *Tx) claimKeys(ctx context.Context, w *write, before []ora.Value) error {
	if before != nil {
		before = w.t.pad(before)
	}
	for _, x := range w.seg.indexes {
		if !x.unique {
			continue
		}
		key, ok := x.key(w.t.pad(w.v.vals))
		if !ok {
			continue
		}
		if before != nil {
			if old, had := x.key(before); had && old == key {
				continue
			}
		}
		for claimed := false; !claimed; {
			other, err := tx.claim(w, x, key)
			if err != nil {
				return err
			}
			claimed = other == nil
			if !claimed {
				if err := tx.wait(ctx, other, Forever); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// claim takes one key, or returns the transaction that must end before it can be known whether it is free.
func (tx *Tx) claim(w *write, x *index, key string) (*Tx, error) {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	owner, taken := x.slots[key]
	if !taken {
		owner = -1
	} else if owner != w.slot {
		r := w.seg.rows[owner]
		if r.part != nil && r.part.gone.Load() {
			r = &row{}
		}
		if other := r.locker.Load(); other != nil && other != tx {
			return other, nil
		}
		if v := r.head.Load(); v != nil && v.vals != nil {
			if held, ok := x.key(w.t.pad(v.vals)); ok && held == key {
				return nil, ora.Errorf(1, "unique constraint (%s) violated", x.Name)
			}
		}
	}
	w.keys = append(w.keys, keyMove{x, key, owner})
	x.slots[key] = w.slot
	return nil, nil
}

// join counts the transaction among the table's lockers. Callers hold t.mu.
func (tx *Tx) join(t *Table) {
	if _, in := tx.tables[t]; !in {
		tx.tables[t] = struct{}{}
		t.lockers++
	}
}
