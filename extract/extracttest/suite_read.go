package extracttest

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
)

// testSnapshot changes the table in every way while it is read, and demands the table as it was.
func testSnapshot(t *testing.T, h Harness) {
	before := rows(300, 0, 0)
	x := open(t, h, before)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for seq := 1; ; seq++ {
			select {
			case <-stop:
				return
			default:
			}
			key := (seq*7)%300 + 1
			h.Delete(t, inspection, "SEQ", *text("%d", key))
			h.Insert(t, inspection, [][]*string{inspectionRow(key, seq), inspectionRow(1000+seq, seq)})
		}
	}()
	want := digestOf(t, inspectionColumns(), before)
	m, _ := x.plan(t, "SEQ", 4)
	for range 3 {
		sum := extract.NewDigester(inspectionColumns()).Digest()
		for _, s := range m.Slices {
			if err := sum.Merge(x.mustRead(t, s.Slice).digest); err != nil {
				t.Fatal(err)
			}
		}
		wantDigest(t, sum, want, inspectionColumns())
	}
	close(stop)
	<-done
	now := look(t, x.source, inspection)
	if got := now.mustRead(t, extract.PlanSingle()[0]); got.digest.Equal(want) {
		t.Error("a new snapshot shows the old table: nothing was changed, so nothing was proved")
	}
}

// testValues reads the extremes of every type.
func testValues(t *testing.T, h Harness) {
	name := extract.TableName{Schema: Schema, Name: "EXTREMES"}
	nines := strings.Repeat("9", 28) + "." + strings.Repeat("9", 10)
	columns := inspectionColumns()
	all := [][]*string{
		{text("1"), text("0001-01-01 00:00:00"), text("9999999999999999.99"), text("%s", nines), text("abc"), text("%s", strings.Repeat("한", 33)), text("0001-01-01 00:00:00.000001")},
		{text("9999999999"), text("9999-12-31 23:59:59"), text("-9999999999999999.99"), text("-%s", nines), text("   "), text(" "), text("9999-12-31 23:59:59.999999")},
		{text("-9999999999"), text("1969-12-31 23:59:59"), text("0.01"), text("0.0000000001"), text("'\"\\"), text("line\nbreak\ttab \U0001F600"), text("1970-01-01 00:00:00")},
		{text("0"), text("2024-02-29 12:00:00"), text("-0.01"), text("0.0000000000"), text("NUL"), text("NULL"), text("2026-03-29 02:30:00.5")},
	}
	h.Create(t, name, columns, "SEQ")
	h.Insert(t, name, all)
	x := look(t, h.Source(t), name)
	wantDigest(t, x.mustRead(t, extract.PlanSingle()[0]).digest, digestOf(t, columns, all), columns)
}

// testNulls has NULLs first, last, everywhere, and in a slice of their own.
func testNulls(t *testing.T, h Harness) {
	name := extract.TableName{Schema: Schema, Name: "HOLES"}
	columns := inspectionColumns()
	columns[0].Nullable = true
	null := make([]*string, len(columns))
	full := inspectionRow(6, 0) // a row without any
	all := [][]*string{null, full, null, full, null}
	h.Create(t, name, columns)
	h.Insert(t, name, all)
	x := look(t, h.Source(t), name)
	wantDigest(t, x.mustRead(t, extract.PlanSingle()[0]).digest, digestOf(t, columns, all), columns)
	m, _ := x.plan(t, "SEQ", 3)
	last := m.Slices[len(m.Slices)-1]
	if last.Slice.Shape != extract.IsNull || last.Rows != 3 {
		t.Fatalf("the last slice is %+v, want 3 NULLs", last)
	}
	wantDigest(t, x.mustRead(t, last.Slice).digest, digestOf(t, columns, [][]*string{null, null, null}), columns)
}

func testBatches(t *testing.T, h Harness) {
	const widest = 120 // bytes of text in a row
	x := open(t, h, rows(100, 0, 0))
	for _, c := range []struct{ rows, bytes int }{{1, 0}, {7, 0}, {100, 0}, {0, 1}, {0, 200}, {1000, 1 << 20}} {
		r, err := x.source.Read(t.Context(), x.query, x.at, extract.PlanSingle()[0])
		if err != nil {
			t.Fatal(err)
		}
		b := extract.NewBatch(x.query.Table.Columns, c.rows, c.bytes)
		total := 0
		for err = r.Next(t.Context(), b); err == nil; err = r.Next(t.Context(), b) {
			total += b.Rows
			if b.Rows < 1 || (c.rows > 0 && b.Rows > c.rows) || (c.bytes > 0 && b.Bytes() >= c.bytes+widest) {
				t.Fatalf("a batch of at most %d rows and %d bytes has %d rows and %d bytes", c.rows, c.bytes, b.Rows, b.Bytes())
			}
			for i := range b.Cols {
				if b.Cols[i].Len() != b.Rows {
					t.Fatalf("column %d has %d values in a batch of %d rows", i, b.Cols[i].Len(), b.Rows)
				}
			}
		}
		if err != io.EOF || total != 100 {
			t.Errorf("batches of %d rows and %d bytes: %d rows, %v; want 100", c.rows, c.bytes, total, err)
		}
		if err := r.Next(t.Context(), b); err != io.EOF {
			t.Errorf("Next after the end: %v, want io.EOF", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// testReaderReuse leaves readers in the middle, and demands that the next ones see nothing of it.
func testReaderReuse(t *testing.T, h Harness) {
	all := rows(200, 0, 0)
	x := open(t, h, all)
	for range 3 {
		r, err := x.source.Read(t.Context(), x.query, x.at, extract.PlanSingle()[0])
		if err != nil {
			t.Fatal(err)
		}
		b := extract.NewBatch(x.query.Table.Columns, 3, 0)
		if err := r.Next(t.Context(), b); err != nil || b.Rows != 3 {
			t.Fatalf("first batch: %d rows, %v", b.Rows, err)
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Next(t.Context(), b); err == nil {
			t.Error("a closed reader reads on")
		}
		wantDigest(t, x.mustRead(t, extract.PlanSingle()[0]).digest, digestOf(t, inspectionColumns(), all), inspectionColumns())
	}
}

func testRefusals(t *testing.T, h Harness) {
	for how, want := range map[Refusal]error{WrongPassword: extract.ErrAuth, Nobody: extract.ErrUnreachable} {
		source := h.Broken(t, how)
		if _, err := source.Identity(t.Context()); !errors.Is(err, want) {
			t.Errorf("refusal %d: Identity says %v, want %v", how, err, want)
		}
		if _, err := source.Snapshot(t.Context()); !errors.Is(err, want) {
			t.Errorf("refusal %d: Snapshot says %v, want %v", how, err, want)
		}
	}
}

func testPrivileges(t *testing.T, h Harness) {
	private := extract.TableName{Schema: "OTHER", Name: "PRIVATE"}
	h.Private(t, private, inspectionColumns())
	source := h.Source(t)
	_, err := source.Describe(t.Context(), extract.Selection{Table: private})
	if !errors.Is(err, extract.ErrNoTable) || !strings.Contains(err.Error(), "GRANT") || !strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("describe: %v, want ErrNoTable that names the table and the GRANT", err)
	}
	at, err := source.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := extract.Query{Table: &extract.Table{Name: private, Columns: inspectionColumns()}}
	_, err = source.Measure(t.Context(), q, at, extract.PlanSingle(), []extract.Measure{{What: extract.Rows}})
	if !errors.Is(err, extract.ErrNoTable) && !errors.Is(err, extract.ErrPrivilege) {
		t.Errorf("measure: %v, want ErrNoTable or ErrPrivilege", err)
	}
}

func testIdentity(t *testing.T, h Harness) {
	x := open(t, h, rows(3, 0, 0))
	id, err := x.source.Identity(t.Context())
	if err != nil || id == (extract.Identity{}) {
		t.Fatalf("Identity = %+v, %v", id, err)
	}
	mark := extract.Session{Action: "INSP_DTL/2026-09-28", Client: "0198f2b4-run"}
	same := *x
	same.source = x.source.As(mark, id)
	if got := same.mustRead(t, extract.PlanSingle()[0]); got.rows != 3 {
		t.Errorf("%d rows by a marked session, want 3", got.rows)
	}
	id.UniqueName += "_CLONE"
	clone := *x
	clone.source = x.source.As(mark, id)
	if _, err := clone.read(t.Context(), extract.PlanSingle()[0], nil); !errors.Is(err, extract.ErrIdentity) {
		t.Errorf("another database answers: %v, want ErrIdentity", err)
	}
}

func testSnapshotTooOld(t *testing.T, h Harness) {
	x := open(t, h, rows(100, 0, 0))
	h.Delete(t, inspection, "SEQ", "5")
	h.Forget(t)
	if _, err := x.source.Bounds(t.Context(), x.query, x.at, "SEQ"); !errors.Is(err, extract.ErrSnapshotTooOld) {
		t.Errorf("bounds: %v, want ErrSnapshotTooOld", err)
	}
	if _, err := x.source.Measure(t.Context(), x.query, x.at, extract.PlanSingle(), nil); !errors.Is(err, extract.ErrSnapshotTooOld) {
		t.Errorf("measure: %v, want ErrSnapshotTooOld", err)
	}
	if s, err := x.read(t.Context(), extract.PlanSingle()[0], nil); !errors.Is(err, extract.ErrSnapshotTooOld) {
		t.Errorf("read: %d rows, %v, want ErrSnapshotTooOld", s.rows, err)
	}
	x.at = extract.Snapshot{SCN: "99999999999999"}
	if s, err := x.read(t.Context(), extract.PlanSingle()[0], nil); !errors.Is(err, extract.ErrSnapshotTooOld) {
		t.Errorf("an instant to come: %d rows, %v, want ErrSnapshotTooOld", s.rows, err)
	}
}

func testCancel(t *testing.T, h Harness) {
	x := open(t, h, rows(500, 0, 0))
	stalled := h.Stall(t, inspection, 200)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the run was cancelled")
	result := make(chan error, 1)
	go func() {
		_, err := x.read(ctx, extract.PlanSingle()[0], nil)
		result <- err
	}()
	select {
	case <-stalled:
	case err := <-result:
		t.Fatalf("over before it stalled: %v", err)
	}
	cancel(cause)
	select {
	case err := <-result:
		if !errors.Is(err, cause) {
			t.Errorf("err = %v, want the cause", err)
		}
	case <-time.After(time.Second):
		t.Fatal("still reading a second after it was cancelled")
	}
	if s := x.mustRead(t, extract.PlanSingle()[0]); s.rows != 500 {
		t.Errorf("the next read has %d rows, want 500", s.rows)
	}
}

func testEarlyEnd(t *testing.T, h Harness) {
	x := open(t, h, rows(500, 0, 0))
	h.EndEarly(t, inspection, 137)
	s, err := x.read(t.Context(), extract.PlanSingle()[0], nil)
	if !errors.Is(err, extract.ErrShort) {
		t.Errorf("%d rows, %v; want ErrShort", s.rows, err)
	}
}

func testCut(t *testing.T, h Harness) {
	x := open(t, h, rows(500, 0, 0))
	h.Cut(t, inspection, 137)
	if s, err := x.read(t.Context(), extract.PlanSingle()[0], nil); !errors.Is(err, extract.ErrUnreachable) {
		t.Errorf("%d rows, %v; want ErrUnreachable", s.rows, err)
	}
	if s := x.mustRead(t, extract.PlanSingle()[0]); s.rows != 500 {
		t.Errorf("the next read has %d rows, want 500", s.rows)
	}
}

func testManyAtOnce(t *testing.T, h Harness) {
	all := rows(400, 0, 0)
	x := open(t, h, all)
	m, _ := x.plan(t, "SEQ", 8)
	var mu sync.Mutex
	var wg sync.WaitGroup
	sum := extract.NewDigester(inspectionColumns()).Digest()
	for _, s := range m.Slices {
		wg.Go(func() {
			got, err := x.read(t.Context(), s.Slice, nil)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("slice %d: %v", s.Slice.ID, err)
			} else if err := sum.Merge(got.digest); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantDigest(t, sum, digestOf(t, inspectionColumns(), all), inspectionColumns())
}
