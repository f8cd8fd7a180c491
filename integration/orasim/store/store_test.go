package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/ora"
)

func tableName() Name { return Name{"APP", "T"} }

func columns(names ...string) []ora.Column {
	var list []ora.Column
	for _, n := range names {
		list = append(list, ora.Column{Name: n, Type: ora.Type{Code: ora.Number, Scale: ora.ScaleFloating}})
	}
	return list
}

func ints(vals ...int64) []ora.Value {
	list := make([]ora.Value, len(vals))
	for i, v := range vals {
		list[i] = ora.EncodeInt(v)
	}
	return list
}

func codeOf(err error) int {
	var e *ora.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// lines reads a cursor as the sorted lines of an Image.
func lines(t *testing.T, tab *Table, cur *Cursor) ([]string, error) {
	t.Helper()
	m := Image{Columns: tab.Columns()}
	for {
		_, vals, err := cur.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		m.Rows = append(m.Rows, vals)
	}
	list, err := m.Lines()
	if err != nil {
		t.Fatal(err)
	}
	return list, nil
}

func commit(t *testing.T, s *Store, do func(tx *Tx) error) uint64 {
	t.Helper()
	tx := s.Begin(nil)
	tx.Savepoint()
	if err := do(tx); err != nil {
		t.Fatal(err)
	}
	return tx.Commit()
}

func insert(t *testing.T, s *Store, tab *Table, vals ...int64) uint64 {
	t.Helper()
	return commit(t, s, func(tx *Tx) error { return tx.Insert(context.Background(), tab, ints(vals...)) })
}

// randomChange inserts, updates or deletes a random row of the transaction's view.
func randomChange(r *rand.Rand, s *Store, tx *Tx, tab *Table, next *int64) error {
	ctx := context.Background()
	cur := tab.Scan(tx.View(s.SCN()))
	tx.Savepoint()
	var slots []int
	for {
		slot, _, err := cur.Next()
		if err != nil {
			break
		}
		slots = append(slots, slot)
	}
	if len(slots) == 0 || r.Intn(3) == 0 {
		*next++
		return tx.Insert(ctx, tab, ints(*next, r.Int63n(100)))
	}
	slot := slots[r.Intn(len(slots))]
	vals, _, err := tx.Lock(ctx, cur, slot, Forever)
	if err != nil {
		return err
	}
	change := RowChange{Slot: slot}
	if r.Intn(4) > 0 {
		change.Vals = []ora.Value{vals[0], ora.EncodeInt(r.Int63n(100))}
	}
	return tx.Apply(ctx, tab, []RowChange{change})
}

// TestEverySCNMatchesTheJournal makes random transactions, some rolled back in part or as a whole, and then
// compares the table with the journal's image at every SCN there was; and again after undo is forgotten.
func TestEverySCNMatchesTheJournal(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	s := New(Options{RowsPerBlock: 3})
	tab := s.CreateTable(tableName(), columns("ID", "V"))
	if err := tab.AddUnique("APP.T_PK", []int{0}); err != nil {
		t.Fatal(err)
	}
	first := s.SCN()
	next := int64(0)
	for range 300 {
		tx := s.Begin(nil)
		for range 1 + r.Intn(5) {
			point := tx.Savepoint()
			if err := randomChange(r, s, tx, tab, &next); err != nil {
				t.Fatal(err)
			}
			if r.Intn(6) == 0 {
				tx.RollbackTo(point)
			}
		}
		if r.Intn(5) == 0 {
			tx.Rollback()
		} else {
			tx.Commit()
		}
	}
	last := s.SCN()
	compare := func(scn uint64, mayBeOld bool) (old bool) {
		t.Helper()
		cur, err := tab.ScanAsOf(scn)
		if err != nil {
			t.Fatal(err)
		}
		got, err := lines(t, tab, cur)
		if mayBeOld && codeOf(err) == 1555 {
			return true
		}
		if err != nil {
			t.Fatalf("SCN %d: %v", scn, err)
		}
		image, err := s.Journal().Image(tableName(), scn)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := image.Lines(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("SCN %d: got %v, the journal says %v, %v", scn, got, want, err)
		}
		return false
	}
	for scn := first; scn <= last; scn++ {
		compare(scn, false)
	}
	middle := (first + last) / 2
	s.ForgetUndoBefore(middle)
	old := 0
	for scn := first; scn <= last; scn++ {
		if compare(scn, scn < middle) {
			old++
		}
	}
	if old == 0 {
		t.Error("no SCN was too old after undo was forgotten")
	}
}

func TestForgottenVersionsAreFreed(t *testing.T) {
	s := New(Options{})
	tab := s.CreateTable(tableName(), columns("ID"))
	insert(t, s, tab, 1)
	for range 10 {
		commit(t, s, func(tx *Tx) error {
			cur := tab.Scan(tx.View(s.SCN()))
			if _, _, err := tx.Lock(context.Background(), cur, 0, NoWait); err != nil {
				return err
			}
			return tx.Apply(context.Background(), tab, []RowChange{{0, ints(1)}})
		})
	}
	length := func() int {
		n := 0
		for v := tab.seg.rows[0].head.Load(); v != nil; v = v.prev.Load() {
			n++
		}
		return n
	}
	if length() != 11 {
		t.Fatalf("got a chain of %d, want 11", length())
	}
	s.ForgetUndoBefore(s.SCN() - 3)
	if length() != 4 {
		t.Errorf("after forgetting: got a chain of %d, want 4", length())
	}
}

func TestUniqueKeys(t *testing.T) {
	ctx := context.Background()
	s := New(Options{})
	tab := s.CreateTable(tableName(), columns("A", "B"))
	if err := tab.AddUnique("APP.U", []int{0, 1}); err != nil {
		t.Fatal(err)
	}
	insert(t, s, tab, 1, 1)
	tx := s.Begin(nil)
	tx.Savepoint()
	if err := tx.Insert(ctx, tab, ints(1, 1)); codeOf(err) != 1 || !strings.Contains(err.Error(), "APP.U") {
		t.Errorf("duplicate: got %v", err)
	}
	tx.RollbackTo(0)
	for range 2 { // all NULL is never a duplicate
		if err := tx.Insert(ctx, tab, []ora.Value{nil, nil}); err != nil {
			t.Error(err)
		}
	}
	if err := tx.Insert(ctx, tab, []ora.Value{nil, ora.EncodeInt(1)}); err != nil {
		t.Error(err)
	}
	if err := tx.Insert(ctx, tab, []ora.Value{nil, ora.EncodeInt(1)}); codeOf(err) != 1 {
		t.Errorf("duplicate with a NULL: got %v", err)
	}
	tx.Rollback()
	insert(t, s, tab, 1, 2)
	if err := tab.AddUnique("APP.A", []int{0}); codeOf(err) != 2299 {
		t.Errorf("key over duplicates: got %v, want ORA-02299", err)
	}
}

func TestRowIDs(t *testing.T) {
	s := New(Options{RowsPerBlock: 2})
	tab := s.CreateTable(tableName(), columns("ID"))
	for i := range int64(3) {
		insert(t, s, tab, i)
	}
	read := func() string {
		var list []string
		cur := tab.Scan(View{SCN: s.SCN()})
		for {
			slot, _, err := cur.Next()
			if err != nil {
				return strings.Join(list, " ")
			}
			id := cur.RowID(slot)
			list = append(list, fmt.Sprintf("%d/%d", id.Block, id.Slot))
		}
	}
	if got, want := read(), "131/0 131/1 132/0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if tab.Blocks() != 2 {
		t.Errorf("got %d blocks, want 2", tab.Blocks())
	}
	before := tab.DataObject()
	if err := s.Truncate(tab); err != nil {
		t.Fatal(err)
	}
	if tab.DataObject() == before || read() != "" {
		t.Error("a truncated table keeps its data object number or its rows")
	}
}

func TestJournalImages(t *testing.T) {
	s := New(Options{})
	if _, err := s.Journal().Image(tableName(), s.SCN()); err == nil {
		t.Error("image of a table that never was: got no error")
	}
	tab := s.CreateTable(tableName(), columns("ID"))
	one := insert(t, s, tab, 1)
	if err := s.AddColumn(tab, columns("V")[0], ora.EncodeInt(9)); err != nil {
		t.Fatal(err)
	}
	two := insert(t, s, tab, 2, 5)
	if err := s.Truncate(tab); err != nil {
		t.Fatal(err)
	}
	emptied := s.SCN()
	if err := s.Drop(tab); err != nil {
		t.Fatal(err)
	}
	for scn, want := range map[uint64]string{one: "1", two: "1|9 2|5", emptied: ""} {
		image, err := s.Journal().Image(tableName(), scn)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := image.Lines(); err != nil || strings.Join(got, " ") != want {
			t.Errorf("SCN %d: got %q, %v, want %q", scn, got, err, want)
		}
	}
	if _, err := s.Journal().Image(tableName(), s.SCN()); err == nil {
		t.Error("image of a dropped table: got no error")
	}
	image, err := s.Journal().Image(tableName(), two)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := image.Text("V"); err != nil || len(got) != 2 || got[1][0] != "5" {
		t.Errorf("one column: got %v, %v", got, err)
	}
	if _, err := image.Text("NOPE"); err == nil {
		t.Error("a column that is not there: got no error")
	}
}
