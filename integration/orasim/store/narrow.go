package store

import (
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Limit says that only rows are wanted whose column is at least Low and at most High, both in the encoding of
// the table; nil is no bound. A row with NULL in the column is not wanted.
type Limit struct {
	Column    int // by position; RowIDColumn for the ROWID
	Low, High ora.Value
}

// RowIDColumn is the ROWID as a Limit's column.
const RowIDColumn = -1

func (l Limit) equality() bool { return l.Low != nil && string(l.Low) == string(l.High) }

// Narrow lets the cursor leave out rows that are not wanted, where an index or the place of ROWIDs helps. It
// may still yield some: the caller checks each row as if there were no limits.
func (c *Cursor) Narrow(limits []Limit) {
	if len(limits) == 0 {
		return
	}
	c.t.mu.RLock()
	defer c.t.mu.RUnlock()
	if len(c.seg.parts) > 0 {
		c.chooseByRowID(limits)
	}
	if c.chosen != nil {
		return
	}
	from, to := c.rowIDRange(limits)
	best, slots := -1, []int(nil)
	for _, x := range c.seg.indexes {
		low, high, score := x.bounds(limits)
		if score == 0 || best >= score {
			continue
		}
		if found, few := x.entries.between(low, high, max(100, len(c.rows)/4)); few {
			best, slots = score, found
		}
	}
	if best < 0 {
		c.next, c.end = from, to
		return
	}
	slices.Sort(slots)
	slots = slices.DeleteFunc(slices.Compact(slots), func(s int) bool { return s < from || s >= to })
	c.chosen, c.end = slots, len(slots)
	if slots == nil {
		c.chosen = []int{}
	}
}

// bounds is the part of the index that the limits leave: the leading columns that must be equal to something,
// then one that has a range. The score counts them, an equality more than a range; 0: all of it.
func (x *index) bounds(limits []Limit) (low, high string, score int) {
	var prefix []byte
	for _, column := range x.columns {
		i := slices.IndexFunc(limits, func(l Limit) bool { return l.Column == column && l.equality() })
		if i < 0 {
			return x.lastBounds(prefix, column, limits, score)
		}
		prefix = appendSorted(prefix, limits[i].Low)
		score += 2
	}
	return string(prefix), after(prefix), score
}

func (x *index) lastBounds(prefix []byte, column int, limits []Limit, score int) (string, string, int) {
	low, high := string(prefix), after(prefix)
	for _, l := range limits {
		if l.Column != column {
			continue
		}
		if l.Low != nil {
			low = max(low, string(appendSorted(slices.Clone(prefix), l.Low)))
			score++
		}
		if l.High != nil {
			if h := after(appendSorted(slices.Clone(prefix), l.High)); high == "" || h < high {
				high = h
			}
			score++
		}
	}
	return low, high, score
}

// after is the first string that does not begin with a prefix and is above it; "" for an empty one.
func after(prefix []byte) string {
	if len(prefix) == 0 {
		return ""
	}
	end := slices.Clone(prefix)
	end[len(end)-1]++ // a prefix ends in 1
	return string(end)
}

// rowIDRange is the slots that limits on the ROWID leave.
func (c *Cursor) rowIDRange(limits []Limit) (from, to int) {
	from, to = 0, len(c.rows)
	for _, l := range limits {
		if l.Column == RowIDColumn && len(c.seg.parts) == 0 {
			low, high := slotRange(l, c.seg.object, c.t.st.opts.RowsPerBlock, len(c.rows))
			from, to = max(from, low), min(to, high)
		}
	}
	return from, max(from, to)
}

// SlotRange is the slots, of rows in all, that a limit on the ROWID leaves in the present segment, as a
// half-open range.
func (t *Table) SlotRange(l Limit, rows int) (from, to int) {
	return slotRange(l, t.DataObject(), t.st.opts.RowsPerBlock, rows)
}

// slotRange finds the first slots whose ROWIDs are at least Low and above High: ROWIDs compare as their bytes.
func slotRange(l Limit, object uint32, perBlock, rows int) (from, to int) {
	first := func(beyond func(id string) bool) int {
		low, high := 0, rows
		for low < high {
			if mid := (low + high) / 2; beyond(string(rowID(object, mid, perBlock).Encode())) {
				high = mid
			} else {
				low = mid + 1
			}
		}
		return low
	}
	to = rows
	if l.Low != nil {
		from = first(func(id string) bool { return id >= string(l.Low) })
	}
	if l.High != nil {
		to = first(func(id string) bool { return id > string(l.High) })
	}
	return from, to
}
