package store

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// ChangeKind says what a Change did.
type ChangeKind uint8

// Kinds of changes.
const (
	RowChanged ChangeKind = iota
	Created
	Altered
	Truncated
	Dropped
)

// Change is one entry of the journal. The changes of a transaction share its SCN and stand in the order in
// which they were made.
type Change struct {
	SCN     uint64
	Table   Name
	Kind    ChangeKind
	Object  uint32       // data object number
	Columns []ora.Column // Created, Altered, Truncated: the columns from then on
	Fill    []ora.Value  // likewise: what a row older than a column reads in it

	Slot          int // RowChanged: which row
	Before, After []ora.Value
}

// Journal is the list of every committed change since the store began, in order. It is written at commit from
// what the transaction did and read without the version chains, so that an image computed from it is a second
// opinion on what a reader at an SCN saw.
type Journal struct {
	mu      sync.RWMutex
	changes []Change
}

func (j *Journal) append(c Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.changes = append(j.changes, c)
}

// Changes returns the entries so far; nobody may change them.
func (j *Journal) Changes() []Change {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return j.changes[:len(j.changes):len(j.changes)]
}

// Image is a table at an SCN.
type Image struct {
	Columns []ora.Column
	Rows    [][]ora.Value // in slot order
}

// Image replays the journal up to and including an SCN.
func (j *Journal) Image(table Name, scn uint64) (Image, error) {
	var columns []ora.Column
	var fill []ora.Value
	rows := map[int][]ora.Value{}
	exists := false
	for _, c := range j.Changes() {
		if c.SCN > scn {
			break
		}
		if c.Table != table {
			continue
		}
		switch c.Kind {
		case RowChanged:
			if c.After == nil {
				delete(rows, c.Slot)
			} else {
				rows[c.Slot] = c.After
			}
		case Created, Truncated, Altered:
			exists, columns, fill = true, c.Columns, c.Fill
			if c.Kind != Altered {
				clear(rows)
			}
		case Dropped:
			exists = false
			clear(rows)
		}
	}
	if !exists {
		return Image{}, fmt.Errorf("image of %s.%s at SCN %d: no such table then", table.Owner, table.Table, scn)
	}
	return Image{columns, inOrder(rows, fill)}, nil
}

func inOrder(rows map[int][]ora.Value, fill []ora.Value) [][]ora.Value {
	slots := make([]int, 0, len(rows))
	for slot := range rows {
		slots = append(slots, slot)
	}
	sort.Ints(slots)
	list := make([][]ora.Value, len(slots))
	for i, slot := range slots {
		list[i] = padWith(rows[slot], fill)
	}
	return list
}

// Text renders every row by ora.Text, in slot order; columns, if any are named, picks and orders the columns.
func (m Image) Text(columns ...string) ([][]string, error) {
	pick, err := m.positions(columns)
	if err != nil {
		return nil, err
	}
	text := make([][]string, len(m.Rows))
	for i, row := range m.Rows {
		text[i] = make([]string, len(pick))
		for k, c := range pick {
			text[i][k] = ora.Text(m.Columns[c].Type, row[c])
		}
	}
	return text, nil
}

// Lines is Text with the values of a row joined by "|" and the rows sorted: two images are equal when their
// lines are.
func (m Image) Lines(columns ...string) ([]string, error) {
	text, err := m.Text(columns...)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(text))
	for i, row := range text {
		lines[i] = strings.Join(row, "|")
	}
	sort.Strings(lines)
	return lines, nil
}

func (m Image) positions(columns []string) ([]int, error) {
	var pick []int
	if len(columns) == 0 {
		for i := range m.Columns {
			pick = append(pick, i)
		}
		return pick, nil
	}
	for _, name := range columns {
		at := -1
		for i, c := range m.Columns {
			if c.Name == name {
				at = i
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("image has no column %q", name)
		}
		pick = append(pick, at)
	}
	return pick, nil
}
