package wire

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// enter looks up the faults for the call that begins, and applies those that are about time and bytes. fresh
// says that the call executes a statement rather than going on with one.
func (s *session) enter(text string, fresh bool) error {
	if fresh {
		s.conn.base = s.conn.sent
	}
	s.faults = s.cfg.Faults.matching(s.sid, s.login.User, text)
	if s.cfg.CommentFaults {
		set, err := commentFaults(text)
		if err != nil {
			return err
		}
		s.faults = append(s.faults, set...)
	}
	s.conn.pace, s.conn.cutAt = pace{}, nil
	for _, f := range s.faults {
		switch {
		case f.Kind == FaultLatency && f.fire():
			if !s.conn.pause(f.Delay) {
				return s.conn.cause()
			}
		case f.Kind == FaultDrip && f.fire():
			s.conn.pace = pace{chunk: max(1, f.Chunk), delay: f.Delay}
		case f.cutsAtByte():
			s.conn.cutAt = &cut{at: s.conn.base + f.AtByte, fault: f}
		}
	}
	return nil
}

func (f *Fault) cutsAtByte() bool {
	return f.AtByte > 0 && (f.Kind == FaultClose || f.Kind == FaultReset || f.Kind == FaultHalfPacket)
}

// strike lets the faults act that are due when `row` rows of the statement have been sent; it is called once
// an execution for each row. It returns an *ora.Error to answer with, or errCut when the connection is gone.
func (s *session) strike(ctx context.Context, row int64, late bool) error {
	for _, f := range s.faults {
		if f.AtRow != row || f.Late != late || f.cutsAtByte() {
			continue
		}
		switch f.Kind {
		case FaultError:
			if f.fire() {
				return f.err()
			}
		case FaultStall:
			if f.fire() {
				if err := s.stall(f); err != nil {
					return err
				}
			}
		case FaultHold:
			if f.fire() {
				if err := s.hold(ctx, f); err != nil {
					return err
				}
			}
		case FaultClose, FaultReset, FaultHalfPacket:
			if f.fire() {
				return s.sever(f.Kind)
			}
		}
	}
	return nil
}

// stall sends what there is and holds the call until the fault is released or the client is gone.
func (s *session) stall(f *Armed) error {
	if err := s.flush(); err != nil {
		return err
	}
	select {
	case <-f.released:
		return nil
	case <-s.conn.gone:
		return s.conn.cause()
	}
}

// hold is a server that computes for long: it says nothing, and it answers a break.
func (s *session) hold(ctx context.Context, f *Armed) error {
	select {
	case <-f.released:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sever sends what there is and closes the connection.
func (s *session) sever(k FaultKind) error {
	err := s.flush()
	if k == FaultHalfPacket {
		err = errors.Join(err, s.conn.sendHalf(make([]byte, minSDU)))
	}
	if err != nil {
		return err
	}
	return s.conn.sever(k)
}

// endsEarly says whether the reply must stop here without an end. The rows before it go out in a reply of
// their own; the one that has none is the fault.
func (s *session) endsEarly(sent, fetched int64) bool {
	for _, f := range s.faults {
		if f.Kind == FaultEarlyEnd && fetched >= f.AtRow && (sent > 0 || f.fire()) {
			return true
		}
	}
	return false
}

// reportedRows is the row count to report, true unless a fault says otherwise.
func (s *session) reportedRows(n int64) int64 {
	for _, f := range s.faults {
		if f.Kind == FaultRowCount && f.fire() {
			return f.Rows
		}
	}
	return n
}

// damaged is the row to send, true unless a fault says otherwise. The row is only lent, so the value is copied.
func (s *session) damaged(row []ora.Value, number int64) []ora.Value {
	for _, f := range s.faults {
		if f.Kind == FaultDamage && f.AtRow == number && f.fire() {
			row = damage(row, f.Seed)
		}
	}
	return row
}

// damage flips one bit of the first value that is not NULL, from a column on that the seed picks. The first byte of
// a value is spared where there is another: it is the exponent of a NUMBER and the century of a DATE, and a change
// there would be found out.
func damage(row []ora.Value, seed uint64) []ora.Value {
	rng := rand.New(rand.NewPCG(seed, 0))
	first := rng.IntN(max(1, len(row)))
	for i := range row {
		at := (first + i) % len(row)
		v := row[at]
		if len(v) == 0 {
			continue
		}
		v = append(ora.Value(nil), v...)
		skip := min(1, len(v)-1)
		v[skip+rng.IntN(len(v)-skip)] ^= 1
		row = append([]ora.Value(nil), row...)
		row[at] = v
		return row
	}
	return row
}
