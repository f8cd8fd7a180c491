package store

import (
	"encoding/binary"
	"slices"
	"sort"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// index finds rows by the values of some columns and, when it is unique, keeps two rows from having the same.
//
// Its entries are every key that any version of a row has had, so a reader at any SCN finds the rows it may see
// among them; whether a row has the key in the reader's eyes is for the reader to check. Keys of versions that
// were rolled back or forgotten stay: they only cost a look.
type index struct {
	Name    string // of the constraint, OWNER.NAME
	columns []int
	unique  bool
	slots   map[string]int // unique: which slot holds, or last held, each key
	entries entries
}

func newIndex(name string, columns []int, unique bool) *index {
	x := &index{Name: name, columns: columns, unique: unique}
	if unique {
		x.slots = make(map[string]int)
	}
	return x
}

// AddUnique adds a unique key over columns (by position); name is what ORA-00001 says. Rows that already
// break it are ORA-02299.
func (t *Table) AddUnique(name string, columns []int) error {
	return t.addIndex(newIndex(name, columns, true))
}

// AddIndex adds an index over columns (by position).
func (t *Table) AddIndex(name string, columns []int) error {
	return t.addIndex(newIndex(name, columns, false))
}

func (t *Table) addIndex(x *index) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for slot, r := range t.seg.rows {
		if r.part != nil && r.part.gone.Load() {
			continue
		}
		head := r.head.Load()
		for v := head; v != nil; v = v.prev.Load() {
			if v.vals == nil {
				continue
			}
			vals := t.pad(v.vals)
			x.entries.add(x.sortKey(vals), slot)
			if key, ok := x.key(vals); ok && x.unique && v == head {
				if _, taken := x.slots[key]; taken {
					return ora.Errorf(2299, "cannot validate (%s) - duplicate keys found", x.Name)
				}
				x.slots[key] = slot
			}
		}
	}
	t.seg.indexes = append(t.seg.indexes, x)
	return nil
}

// DropIndex removes an index or unique key.
func (t *Table) DropIndex(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seg.indexes = slices.DeleteFunc(slices.Clone(t.seg.indexes), func(x *index) bool { return x.Name == name })
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

// sortKey is the values of the columns as one string that sorts as they do, NULLs first.
func (x *index) sortKey(vals []ora.Value) string {
	var b []byte
	for _, c := range x.columns {
		b = appendSorted(b, vals[c])
	}
	return string(b)
}

// appendSorted adds a value so that what follows it counts only between equal values: 0 becomes 0 FF, the end
// is 0 1.
func appendSorted(b []byte, v ora.Value) []byte {
	for _, c := range v {
		b = append(b, c)
		if c == 0 {
			b = append(b, 0xFF)
		}
	}
	return append(b, 0, 1)
}

// enter adds a row's new values to the indexes; before is its version until now, if it had one. Callers hold
// t.mu.
func (t *Table) enter(slot int, before *version, vals []ora.Value) {
	if vals == nil || len(t.seg.indexes) == 0 {
		return
	}
	vals = t.pad(vals)
	for _, x := range t.seg.indexes {
		key := x.sortKey(vals)
		if before != nil && before.vals != nil && x.sortKey(t.pad(before.vals)) == key {
			continue
		}
		x.entries.add(key, slot)
	}
}

// entry is one key and a row that has or had it.
type entry struct {
	key  string
	slot int
}

func (e entry) compare(o entry) int {
	if d := strings.Compare(e.key, o.key); d != 0 {
		return d
	}
	return e.slot - o.slot
}

// entries is a sorted set of entries in chunks that are split when full.
type entries struct{ chunks [][]entry }

const chunkSize = 512

// add enters a key, unless it is there.
func (s *entries) add(key string, slot int) {
	e := entry{key, slot}
	i := s.chunkOf(e)
	if i < 0 {
		s.chunks = append(s.chunks, append(make([]entry, 0, chunkSize), e))
		return
	}
	at, found := slices.BinarySearchFunc(s.chunks[i], e, entry.compare)
	switch {
	case found:
	case len(s.chunks[i]) < chunkSize:
		s.chunks[i] = slices.Insert(s.chunks[i], at, e)
	case i == len(s.chunks)-1 && at == chunkSize: // keys that come in order fill every chunk
		s.chunks = append(s.chunks, append(make([]entry, 0, chunkSize), e))
	default:
		s.split(i)
		s.add(key, slot)
	}
}

func (s *entries) split(i int) {
	full := s.chunks[i]
	upper := append(make([]entry, 0, chunkSize), full[chunkSize/2:]...)
	clear(full[chunkSize/2:])
	s.chunks[i] = full[:chunkSize/2]
	s.chunks = slices.Insert(s.chunks, i+1, upper)
}

// chunkOf is the last chunk that does not begin after e, or the first; -1 when there is none.
func (s *entries) chunkOf(e entry) int {
	n := sort.Search(len(s.chunks), func(i int) bool { return s.chunks[i][0].compare(e) > 0 })
	if n == 0 && len(s.chunks) > 0 {
		return 0
	}
	return n - 1
}

// between returns the slots of the keys from low to below high ("" is no bound), or ok false when there are
// more than limit.
func (s *entries) between(low, high string, limit int) (slots []int, ok bool) {
	from := entry{low, -1}
	for i := max(0, s.chunkOf(from)); i < len(s.chunks); i++ {
		c := s.chunks[i]
		at, _ := slices.BinarySearchFunc(c, from, entry.compare)
		for _, e := range c[at:] {
			if high != "" && e.key >= high {
				return slots, true
			}
			if len(slots) >= limit {
				return nil, false
			}
			slots = append(slots, e.slot)
		}
	}
	return slots, true
}
