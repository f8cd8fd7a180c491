// Package store keeps tables in memory as Oracle would show them: every committed change has an SCN, every row
// is a chain of versions, readers see the one that was current at their SCN, undo can be forgotten, and rows
// are locked by the transaction that changes them.
//
// It knows rows, keys and SCNs but no SQL, users or types beyond what a journal needs to print a row. Errors
// are the *ora.Error a server would raise.
package store

import (
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

// Options of a store. The zero value works.
type Options struct {
	FirstSCN      uint64           // the SCN before the first commit; 0: 1,000,000
	RowsPerBlock  int              // rows in a block, for ROWIDs; 0: 100
	Now           func() time.Time // nil: time.Now
	UndoRetention time.Duration    // undo of older commits is forgotten; 0: kept for ever
	UndoCommits   uint64           // undo of commits more than so many SCNs ago is forgotten; 0: kept for ever
	NoJournal     bool             // do not record changes
}

// Store is an instance's data. Its methods may be called from any goroutine.
type Store struct {
	opts    Options
	scn     atomic.Uint64 // of the last commit
	floor   atomic.Uint64 // undo of changes up to this SCN is gone
	txIDs   atomic.Uint64
	objects atomic.Uint32 // last data object number given out
	journal Journal

	mu     sync.Mutex // held while an SCN is made; guards the rest
	times  []moment
	tables map[*Table]struct{}
	swept  uint64 // floor at the last physical sweep

	waits waitGraph
}

// moment says when an SCN was committed.
type moment struct {
	scn uint64
	at  time.Time
}

// New makes an empty store.
func New(opts Options) *Store {
	if opts.FirstSCN == 0 {
		opts.FirstSCN = 1_000_000
	}
	if opts.RowsPerBlock == 0 {
		opts.RowsPerBlock = 100
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	s := &Store{opts: opts, tables: make(map[*Table]struct{})}
	s.scn.Store(opts.FirstSCN)
	s.objects.Store(70_000)
	s.times = []moment{{opts.FirstSCN, opts.Now()}}
	return s
}

// SCN is the SCN of the last commit.
func (s *Store) SCN() uint64 { return s.scn.Load() }

// Journal is the record of every committed change.
func (s *Store) Journal() *Journal { return &s.journal }

// advance makes the next SCN; record is called with it before any reader can see it. Callers hold mu.
func (s *Store) advance(record func(scn uint64)) uint64 {
	scn := s.scn.Load() + 1
	record(scn)
	s.times = append(s.times, moment{scn, s.opts.Now()})
	s.scn.Store(scn)
	s.expireUndo(scn)
	return scn
}

// Tick makes a new SCN without a change, as an idle instance does.
func (s *Store) Tick() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.advance(func(uint64) {})
}

// TimeOf says when an SCN was current; ok is false for one that never was.
func (s *Store) TimeOf(scn uint64) (at time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := sort.Search(len(s.times), func(i int) bool { return s.times[i].scn > scn })
	if i == 0 || scn > s.scn.Load() {
		return time.Time{}, false
	}
	return s.times[i-1].at, true
}

// SCNAt is the SCN that was current at a time; ok is false before the store began.
func (s *Store) SCNAt(at time.Time) (scn uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scnAt(at)
}

func (s *Store) scnAt(at time.Time) (uint64, bool) {
	i := sort.Search(len(s.times), func(i int) bool { return s.times[i].at.After(at) })
	if i == 0 {
		return 0, false
	}
	return s.times[i-1].scn, true
}

// Drop removes a table; a reader in the middle of it gets ORA-08103.
func (s *Store) Drop(t *Table) error {
	return s.ddl(t, Dropped, func(uint64) {
		t.seg.gone.Store(true)
		delete(s.tables, t)
	})
}

// Truncate empties a table by giving it a new segment; a reader of the old one gets ORA-08103.
func (s *Store) Truncate(t *Table) error {
	return s.ddl(t, Truncated, func(scn uint64) {
		old := t.seg
		t.seg = s.newSegment(len(old.parts))
		for _, x := range old.indexes {
			t.seg.indexes = append(t.seg.indexes, newIndex(x.Name, x.columns, x.unique))
		}
		old.gone.Store(true)
	})
}

// AddColumn appends a column; existing rows read as fill in it.
func (s *Store) AddColumn(t *Table, c ora.Column, fill ora.Value) error {
	return s.ddl(t, Altered, func(uint64) {
		t.columns = append(t.columns[:len(t.columns):len(t.columns)], c)
		t.fill = append(t.fill[:len(t.fill):len(t.fill)], fill)
	})
}

// SetColumn replaces the definition of a column; the stored values stay.
func (s *Store) SetColumn(t *Table, i int, c ora.Column) error {
	return s.ddl(t, Altered, func(uint64) {
		cols := append([]ora.Column(nil), t.columns...)
		cols[i] = c
		t.columns = cols
	})
}

// ddl runs a definition change at an SCN of its own, unless somebody holds a lock on the table (ORA-00054).
func (s *Store) ddl(t *Table, kind ChangeKind, change func(scn uint64)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lockers > 0 {
		return ora.Errorf(54, "resource busy and acquire with NOWAIT specified or timeout expired")
	}
	s.advance(func(scn uint64) {
		change(scn)
		t.ddlSCN.Store(scn)
		s.record(Change{SCN: scn, Table: t.name, Kind: kind, Columns: t.columns, Fill: t.fill, Object: t.seg.object})
	})
	return nil
}

func (s *Store) record(c Change) {
	if !s.opts.NoJournal {
		s.journal.append(c)
	}
}

func (s *Store) newSegment(parts int) *segment {
	seg := &segment{object: s.objects.Add(1)}
	for range parts {
		seg.parts = append(seg.parts, s.newPart())
	}
	return seg
}
