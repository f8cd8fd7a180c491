package store

// sweepEvery is after how many SCNs of newly forgotten undo the chains are really cut. The readers' check needs
// only the floor; the sweep gives the memory back.
const sweepEvery = 1024

// ForgetUndoBefore forgets the undo of every change committed up to an SCN: a read at that SCN or later still
// works, an earlier one fails with ORA-01555 where it meets a row changed since. It cannot be taken back.
func (s *Store) ForgetUndoBefore(scn uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raiseFloor(min(scn, s.scn.Load()))
	s.sweep()
}

// UndoFloor is the oldest SCN at which every row can still be read.
func (s *Store) UndoFloor() uint64 { return s.floor.Load() }

// expireUndo applies the retention options after a commit. Callers hold mu.
func (s *Store) expireUndo(scn uint64) {
	if n := s.opts.UndoCommits; n > 0 && scn > n {
		s.raiseFloor(scn - n)
	}
	if d := s.opts.UndoRetention; d > 0 {
		if old, ok := s.scnAt(s.opts.Now().Add(-d)); ok {
			s.raiseFloor(old)
		}
	}
	if s.floor.Load() >= s.swept+sweepEvery {
		s.sweep()
	}
}

func (s *Store) raiseFloor(scn uint64) {
	if scn > s.floor.Load() {
		s.floor.Store(scn)
	}
}

// sweep cuts every chain behind the version that is current at the floor. Callers hold mu.
func (s *Store) sweep() {
	floor := s.floor.Load()
	s.swept = floor
	for t := range s.tables {
		t.mu.RLock()
		rows := t.seg.rows
		t.mu.RUnlock()
		for _, r := range rows {
			for v := r.head.Load(); v != nil; v = v.prev.Load() {
				if scn := v.scn.Load(); scn != 0 && scn <= floor {
					v.prev.Store(nil)
					break
				}
			}
		}
	}
}
