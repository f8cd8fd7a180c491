package store

import (
	"io"
	"slices"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Cursor reads the rows of a table as they stood at one SCN, in slot order. It belongs to one goroutine.
type Cursor struct {
	t    *Table
	seg  *segment
	rows []*row
	fill []ora.Value
	view View

	chosen    []int   // the slots to look at; nil: all
	next, end int     // of chosen or rows
	without   []*part // truncated or exchanged before the cursor was opened
}

// View is what a statement may see: everything committed up to an SCN and, with a transaction, what that has
// done up to the moment the view was taken.
type View struct {
	SCN uint64
	tx  uint64 // 0: nobody's uncommitted changes
	seq uint32 // up to this statement
}

// View is the transaction's view at an SCN as of now; a statement takes it before its Savepoint, so that it
// does not meet its own changes.
func (tx *Tx) View(scn uint64) View { return View{scn, tx.id, tx.seq} }

// Scan opens a cursor; the view's SCN is or was current.
func (t *Table) Scan(view View) *Cursor {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return &Cursor{t: t, seg: t.seg, rows: t.seg.rows, fill: t.fill, view: view, end: len(t.seg.rows), without: t.seg.oldParts}
}

// ScanAsOf opens a cursor for AS OF SCN: ORA-08181 for an SCN that never was, ORA-01466 when the table was
// defined or changed after it.
func (t *Table) ScanAsOf(scn uint64) (*Cursor, error) {
	if scn > t.st.SCN() {
		return nil, ora.Errorf(8181, "specified number is not a valid system change number")
	}
	if scn < t.ddlSCN.Load() {
		return nil, ora.Errorf(1466, "unable to read data - table definition has changed")
	}
	return t.Scan(View{SCN: scn}), nil
}

// Next returns the next row, which nobody may change, and its slot; io.EOF at the end. ORA-01555 when undo it
// needs has been forgotten, ORA-08103 when the table was dropped or truncated meanwhile.
func (c *Cursor) Next() (slot int, vals []ora.Value, err error) {
	for c.next < c.end {
		slot = c.next
		if c.chosen != nil {
			slot = c.chosen[c.next]
		}
		c.next++
		vals, err = c.read(c.rows[slot])
		if err != nil || vals != nil {
			return slot, vals, err
		}
	}
	if c.seg.gone.Load() {
		return 0, nil, gone()
	}
	return 0, nil, io.EOF
}

// RowID is the ROWID of a slot.
func (c *Cursor) RowID(slot int) ora.RowID {
	if r := c.rows[slot]; r.part != nil {
		return rowID(r.part.object, r.pos, c.t.st.opts.RowsPerBlock)
	}
	return rowID(c.seg.object, slot, c.t.st.opts.RowsPerBlock)
}

// read returns the values of a row at the cursor's SCN, nil when there was none.
func (c *Cursor) read(r *row) ([]ora.Value, error) {
	if c.seg.gone.Load() {
		return nil, gone()
	}
	if r.part != nil && r.part.gone.Load() {
		if slices.Contains(c.without, r.part) {
			return nil, nil
		}
		return nil, gone()
	}
	v := r.head.Load()
	for v != nil {
		scn := v.scn.Load()
		if c.view.tx != 0 && v.tx == c.view.tx {
			if v.seq <= c.view.seq {
				break
			}
		} else if scn != 0 && scn <= c.view.SCN {
			break
		}
		// The order matters: a sweep raises the floor before it cuts a chain.
		prev := v.prev.Load()
		if scn != 0 && scn <= c.t.st.floor.Load() {
			return nil, ora.Errorf(1555, "snapshot too old: rollback segment number 1 with name %q too small", "_SYSSMU1$")
		}
		v = prev
	}
	if v == nil || v.vals == nil {
		return nil, nil
	}
	return padWith(v.vals, c.fill), nil
}

func gone() error { return ora.Errorf(8103, "object no longer exists") }
