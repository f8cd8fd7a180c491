package sql

import (
	"errors"
	"io"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/store"
)

// dml runs an INSERT, UPDATE or DELETE as a whole: an error undoes what the statement did.
func (st *Statement) dml(x *execution, binds []ora.Bind) (int64, error) {
	if err := st.fresh(binds); err != nil {
		return 0, err
	}
	tx := st.ses.begin()
	x.view = tx.View(st.ses.db.store.SCN())
	point := tx.Savepoint()
	var n int64
	var err error
	switch d := st.change; {
	case d.query != nil || st.parsed.kind == ora.KindInsert:
		n, err = d.insert(x, tx)
	default:
		n, err = d.modify(x, tx, store.Forever)
	}
	if err != nil {
		tx.RollbackTo(point)
		return 0, err
	}
	return n, nil
}

// lockRows is the locking half of SELECT ... FOR UPDATE. The query then reads at the SCN at which the rows were
// found unchanged.
func (st *Statement) lockRows(x *execution, binds []ora.Bind) error {
	if err := st.fresh(binds); err != nil {
		return err
	}
	tx := st.ses.begin()
	x.view = tx.View(st.ses.db.store.SCN())
	tx.Savepoint()
	wait := store.Forever
	if e := st.change.wait; e != nil {
		v, err := e.eval(&frame{x: x})
		if err != nil {
			return err
		}
		seconds, err := optionalInt([]ora.Value{v}, 0, 0)
		if err != nil {
			return err
		}
		wait = store.Wait(time.Duration(seconds) * time.Second)
	}
	_, err := st.change.modify(x, tx, wait)
	return err
}

func (d *dml) insert(x *execution, tx *store.Tx) (int64, error) {
	f := frame{x: x}
	if d.query == nil {
		return 1, d.insertRow(&f, tx)
	}
	in, err := d.query.open(x, nil, true)
	if err != nil {
		return 0, err
	}
	var n int64
	for {
		row, err := in.next()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		f.row = row
		if err := d.insertRow(&f, tx); err != nil {
			return 0, err
		}
		n++
	}
}

func (d *dml) insertRow(f *frame, tx *store.Tx) error {
	vals := make([]ora.Value, len(d.values))
	size := 0
	for i := range d.values {
		v, err := d.values[i].eval(f)
		if err != nil {
			return err
		}
		vals[i] = v
	}
	if err := d.compute(f.x, vals); err != nil {
		return err
	}
	for i, v := range vals {
		if absent(d.object.columns[i].typ, v) {
			vals[i] = nil
			if d.object.columns[i].notNull {
				return nullError(d.object, i, false)
			}
		}
		size += len(v)
	}
	leaf, err := d.object.routed(vals)
	if err != nil {
		return err
	}
	return tx.InsertInto(f.x.ctx, d.object.table, leaf, pack(vals, size))
}

// pack copies the values of a row into one piece of memory. NULLs are nil: an empty LOB is a value.
func pack(vals []ora.Value, size int) []ora.Value {
	arena := make(ora.Value, 0, size)
	for i, v := range vals {
		if v == nil {
			continue
		}
		from := len(arena)
		arena = append(arena, v...)
		vals[i] = arena[from:len(arena):len(arena)]
	}
	return vals
}

// modify finds the rows of an UPDATE, DELETE or FOR UPDATE, locks them, and changes them. When one was changed
// by somebody else since the statement's SCN, the statement starts again at the SCN of now, as Oracle does;
// rows locked so far stay locked.
func (d *dml) modify(x *execution, tx *store.Tx, wait store.Wait) (int64, error) {
	for {
		changes, again, err := d.attempt(x, tx, wait)
		if err != nil {
			return 0, err
		}
		if again {
			x.view = tx.View(x.ses.db.store.SCN())
			x.cached = nil
			continue
		}
		if d.lock {
			return int64(len(changes)), nil
		}
		return int64(len(changes)), tx.Apply(x.ctx, d.object.table, changes)
	}
}

// attempt returns the changes to make, or again when the statement must start over.
func (d *dml) attempt(x *execution, tx *store.Tx, wait store.Wait) (changes []store.RowChange, again bool, err error) {
	wanted, none, err := limits(d.bounds, x, nil)
	if none || err != nil {
		return nil, false, err
	}
	cur := d.object.table.Scan(x.view)
	cur.Narrow(wanted)
	f := frame{x: x}
	for {
		if err := x.tick(); err != nil {
			return nil, false, err
		}
		slot, vals, err := cur.Next()
		if errors.Is(err, io.EOF) {
			return changes, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		f.row = append(vals[:len(d.object.columns):len(d.object.columns)], cur.RowID(slot).Encode())
		ok, err := allTrue(d.where, &f)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			continue
		}
		_, scn, err := tx.Lock(x.ctx, cur, slot, wait)
		if err != nil {
			return nil, false, err
		}
		if scn > x.view.SCN {
			return nil, true, nil
		}
		after, err := d.after(&f)
		if err != nil {
			return nil, false, err
		}
		changes = append(changes, store.RowChange{Slot: slot, Vals: after})
	}
}

// after is the new state of the row in the frame.
func (d *dml) after(f *frame) ([]ora.Value, error) {
	if d.remove || d.lock {
		return nil, nil
	}
	vals := append([]ora.Value(nil), f.row[:len(d.object.columns)]...)
	for i, at := range d.set {
		v, err := d.values[i].eval(f)
		if err != nil {
			return nil, err
		}
		if absent(d.object.columns[at].typ, v) {
			v = nil
			if d.object.columns[at].notNull {
				return nil, nullError(d.object, at, true)
			}
		}
		vals[at] = v
	}
	if err := d.compute(f.x, vals); err != nil {
		return nil, err
	}
	size := 0
	for _, v := range vals {
		size += len(v)
	}
	if err := d.object.stays(f.row, vals); err != nil {
		return nil, err
	}
	return pack(vals, size), nil
}
