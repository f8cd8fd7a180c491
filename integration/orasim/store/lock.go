package store

import (
	"context"
	"sync"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Wait is how long to wait for a row lock.
type Wait time.Duration

// Special waits.
const (
	Forever Wait = -1
	NoWait  Wait = 0
)

// Lock locks a row for the transaction. It returns the row's newest values (nil when deleted) and the SCN that
// made them, 0 for the transaction's own; the caller restarts its statement when that is later than its
// snapshot. ORA-00054 when wait is NoWait and another holds it, ORA-30006 after a timeout, ORA-00060 in a
// deadlock, ORA-08103 when the table went away.
func (tx *Tx) Lock(ctx context.Context, c *Cursor, slot int, wait Wait) (vals []ora.Value, scn uint64, err error) {
	r := c.rows[slot]
	for {
		other, err := tx.tryLock(c, r)
		if err != nil {
			return nil, 0, err
		}
		if other == nil {
			break
		}
		if err := tx.wait(ctx, other, wait); err != nil {
			return nil, 0, err
		}
	}
	v := r.head.Load()
	if v == nil {
		return nil, 0, nil
	}
	scn = v.scn.Load()
	if v.vals != nil {
		vals = padWith(v.vals, c.fill)
	}
	return vals, scn, nil
}

func (tx *Tx) tryLock(c *Cursor, r *row) (*Tx, error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if c.seg.gone.Load() || r.part != nil && r.part.gone.Load() {
		return nil, gone()
	}
	switch other := r.locker.Load(); other {
	case tx:
		return nil, nil
	case nil:
		tx.join(c.t)
		r.locker.Store(tx)
		tx.locked = append(tx.locked, r)
		return nil, nil
	default:
		return other, nil
	}
}

// wait waits until another transaction has ended.
func (tx *Tx) wait(ctx context.Context, other *Tx, wait Wait) error {
	if wait == NoWait {
		return ora.Errorf(54, "resource busy and acquire with NOWAIT specified or timeout expired")
	}
	if !tx.st.waits.add(tx, other) {
		return ora.Errorf(60, "deadlock detected while waiting for resource")
	}
	defer tx.st.waits.remove(tx)
	var timeout <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(time.Duration(wait))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-other.done:
		return nil
	case <-timeout:
		return ora.Errorf(30006, "resource busy; acquire with WAIT timeout expired")
	case <-tx.killed:
		return ora.Errorf(28, "your session has been killed")
	case <-ctx.Done():
		return ora.Errorf(1013, "user requested cancel of current operation")
	}
}

// waitGraph says who waits for whom; each transaction waits for at most one.
type waitGraph struct {
	mu      sync.Mutex
	blocker map[*Tx]*Tx
}

// add records a wait; false means that it would close a circle.
func (g *waitGraph) add(tx, other *Tx) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for at := other; at != nil; at = g.blocker[at] {
		if at == tx {
			return false
		}
	}
	if g.blocker == nil {
		g.blocker = make(map[*Tx]*Tx)
	}
	g.blocker[tx] = other
	return true
}

func (g *waitGraph) remove(tx *Tx) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.blocker, tx)
}
