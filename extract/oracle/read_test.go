package oracle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle/ttc"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

// eachReader runs a test by either reader.
func eachReader(t *testing.T, test func(t *testing.T, by func(*Config))) {
	for _, name := range []string{ReaderThin, ReaderDriver} {
		t.Run(name, func(t *testing.T) { test(t, func(c *Config) { c.Reader = name }) })
	}
}

func TestReadEveryRowOnce(t *testing.T) { eachReader(t, testReadEveryRowOnce) }

func testReadEveryRowOnce(t *testing.T, by func(*Config)) {
	for _, rows := range []int{0, 1, 99, 100, 101, 1000} {
		s := newScript()
		s.set("NUMBERS", sequence(rows))
		source, _ := serve(t, s, by)
		for _, batch := range []int{0, 1, 7, 100} {
			as := source.As(extract.Session{FetchRows: 100}, extract.Identity{})
			got, err := readAll(t.Context(), as, numbers(), batch)
			if err != nil || len(got) != rows {
				t.Fatalf("%d rows in batches of %d: read %d, %v", rows, batch, len(got), err)
			}
			for i, n := range got {
				if n != int64(i+1) {
					t.Fatalf("row %d is %d", i+1, n)
				}
			}
		}
		if s.sessions != 1 || s.seen("COUNT(*)") != 0 {
			t.Errorf("%d rows: %d sessions, %d counts; want one session, and a clear end every time", rows, s.sessions, s.seen("COUNT(*)"))
		}
	}
}

func TestReadEndsEarlyInSilence(t *testing.T) {
	s := newScript()
	s.set("NUMBERS", sequence(1000))
	s.set("SELECT COUNT(*)", texted([]string{"1000"}))
	source, server := serve(t, s, func(c *Config) { c.Reader = ReaderDriver })
	server.Faults().Set(wire.Fault{Kind: wire.FaultEarlyEnd, Match: wire.Match{SQL: `t."N"`}, AtRow: 37})
	got, err := readAll(t.Context(), source, numbers(), 10)
	if !errors.Is(err, extract.ErrShort) || !strings.Contains(err.Error(), "37 rows came") || !strings.Contains(err.Error(), "1000") {
		t.Fatalf("read %d rows, %v; want ErrShort with both counts", len(got), err)
	}

	// The thin reader knows from the reply itself that this is no end.
	thin, server := serve(t, s, func(c *Config) { c.Reader = ReaderThin })
	server.Faults().Set(wire.Fault{Kind: wire.FaultEarlyEnd, Match: wire.Match{SQL: `t."N"`}, AtRow: 37})
	if got, err := readAll(t.Context(), thin, numbers(), 10); !errors.Is(err, extract.ErrShort) || !strings.Contains(err.Error(), "after 37 rows") || !strings.Contains(err.Error(), "1000") {
		t.Fatalf("thin read %d rows, %v; want ErrShort with both counts", len(got), err)
	}

	// For the driver the same sign with a count that agrees is an end.
	s.set("SELECT COUNT(*)", texted([]string{"37"}))
	if got, err := readAll(t.Context(), source, numbers(), 10); err != nil || len(got) != 37 {
		t.Fatalf("read %d rows, %v; want 37", len(got), err)
	}
}

func TestReadCountedOtherwise(t *testing.T) {
	s := newScript()
	s.set("NUMBERS", sequence(1000))
	source, server := serve(t, s, func(c *Config) { c.Reader = ReaderThin })
	server.Faults().Set(wire.Fault{Kind: wire.FaultRowCount, Match: wire.Match{SQL: "NUMBERS"}, Rows: 1001})
	if got, err := readAll(t.Context(), source, numbers(), 0); !errors.Is(err, extract.ErrShort) || !strings.Contains(err.Error(), "1001") {
		t.Fatalf("read %d rows, %v; want ErrShort with the server's count", len(got), err)
	}
}

func TestReadErrors(t *testing.T) { eachReader(t, testReadErrors) }

func testReadErrors(t *testing.T, by func(*Config)) {
	for name, c := range map[string]struct {
		fault wire.Fault
		is    error
	}{
		"snapshot too old": {wire.Fault{Kind: wire.FaultError, Code: 1555, AtRow: 500}, extract.ErrSnapshotTooOld},
		"truncated":        {wire.Fault{Kind: wire.FaultError, Code: 8103, AtRow: 500}, extract.ErrSnapshotTooOld},
		"killed":           {wire.Fault{Kind: wire.FaultError, Code: 28, AtRow: 500}, extract.ErrUnreachable},
		"closed":           {wire.Fault{Kind: wire.FaultClose, AtRow: 500}, extract.ErrUnreachable},
		"reset":            {wire.Fault{Kind: wire.FaultReset, AtRow: 500}, extract.ErrUnreachable},
		"half a packet":    {wire.Fault{Kind: wire.FaultHalfPacket, AtRow: 500}, extract.ErrUnreachable},
		"stalled":          {wire.Fault{Kind: wire.FaultStall, AtRow: 500}, extract.ErrUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript()
			s.set("NUMBERS", sequence(1000))
			source, server := serve(t, s, by)
			c.fault.Match = wire.Match{SQL: "NUMBERS"}
			c.fault.Times = 1
			server.Faults().Set(c.fault)
			as := source.As(extract.Session{FetchRows: 100, StallTimeout: 200 * time.Millisecond}, extract.Identity{})
			if got, err := readAll(t.Context(), as, numbers(), 0); !errors.Is(err, c.is) {
				t.Fatalf("read %d rows, %v; want %v", len(got), err, c.is)
			}
			// The next read sees nothing of it. The driver's session is thrown away after any error, ours when it is cut.
			if got, err := readAll(t.Context(), as, numbers(), 0); err != nil || len(got) != 1000 {
				t.Fatalf("afterwards read %d rows, %v", len(got), err)
			}
			want := 2
			if _, thin := source.pool.idle[0].client.(*thinClient); thin && errors.Is(c.is, extract.ErrSnapshotTooOld) {
				want = 1
			}
			if s.sessions != want {
				t.Fatalf("%d sessions, want %d", s.sessions, want)
			}
		})
	}
}

// within runs use and demands that it returns within a second of stop, which is called once it is under way.
func within(t *testing.T, underWay <-chan struct{}, stop func(), use func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- use() }()
	select {
	case <-underWay:
	case err := <-done:
		t.Fatalf("over before it was cancelled: %v", err)
	}
	stop()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second):
		t.Fatal("still running a second after it was cancelled")
		return nil
	}
}

func TestCancelDuringExecute(t *testing.T) { eachReader(t, testCancelDuringExecute) }

func testCancelDuringExecute(t *testing.T, by func(*Config)) {
	s := newScript()
	hold := answer{columns: sequence(1).columns, hold: true, held: make(chan struct{})}
	s.set("NUMBERS", hold)
	source, _ := serve(t, s, by)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the run was cancelled")
	err := within(t, hold.held, func() { cancel(cause) }, func() error {
		_, err := readAll(ctx, source, numbers(), 0)
		return err
	})
	if !errors.Is(err, cause) {
		t.Fatalf("err = %v, want the cause", err)
	}
}

func TestCancelDuringFetch(t *testing.T) { eachReader(t, testCancelDuringFetch) }

func testCancelDuringFetch(t *testing.T, by func(*Config)) {
	for _, kind := range []wire.FaultKind{wire.FaultStall, wire.FaultDrip} {
		s := newScript()
		s.set("NUMBERS", sequence(5000))
		source, server := serve(t, s, by)
		stalled := server.Faults().Set(wire.Fault{Kind: kind, Match: wire.Match{SQL: "NUMBERS"}, AtRow: 250, Delay: time.Second})
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the run was cancelled")
		as := source.As(extract.Session{FetchRows: 100}, extract.Identity{})
		err := within(t, stalled.Hit(), func() { cancel(cause) }, func() error {
			_, err := readAll(ctx, as, numbers(), 0)
			return err
		})
		if !errors.Is(err, cause) {
			t.Fatalf("fault %d: err = %v, want the cause", kind, err)
		}
		stalled.Release()
	}
}

func TestQueryTimeout(t *testing.T) {
	s := newScript()
	hold := answer{columns: sequence(1).columns, hold: true, held: make(chan struct{})}
	s.set("NUMBERS", hold)
	source, _ := serve(t, s, nil)
	as := source.As(extract.Session{QueryTimeout: 50 * time.Millisecond}, extract.Identity{})
	if _, err := readAll(t.Context(), as, numbers(), 0); !errors.Is(err, extract.ErrBusy) || !strings.Contains(err.Error(), "query_timeout") {
		t.Fatalf("err = %v, want ErrBusy that names query_timeout", err)
	}
}

func TestValueErrorNamesColumnRowAndValue(t *testing.T) {
	eachReader(t, testValueErrorNamesColumnRowAndValue)
}

func testValueErrorNamesColumnRowAndValue(t *testing.T, by func(*Config)) {
	s := newScript()
	bad := sequence(2)
	bad.rows = append(bad.rows, []ora.Value{{0xc1, 0x02, 0x33}}) // 1.5
	s.set("NUMBERS", bad)
	source, _ := serve(t, s, by)
	for key, want := range map[string]string{"": "the row number 3 of the slice", "N": `the row "N"=1.5`} {
		q := numbers()
		if key != "" {
			q.Table.Key = []string{key}
		}
		got, err := readAll(t.Context(), source, q, 2)
		if !errors.Is(err, extract.ErrValue) || len(got) != 2 || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `column "N"`) {
			t.Errorf("read %v, %v; want two rows and ErrValue with %q", got, err, want)
		}
	}
}

func TestReaderIsOverWhenItIsOver(t *testing.T) { eachReader(t, testReaderIsOverWhenItIsOver) }

func testReaderIsOverWhenItIsOver(t *testing.T, by func(*Config)) {
	s := newScript()
	s.set("NUMBERS", sequence(10))
	source, _ := serve(t, s, by)
	q := numbers()
	r, err := source.Read(t.Context(), q, at("7"), extract.PlanSingle()[0])
	if err != nil {
		t.Fatal(err)
	}
	b := extract.NewBatch(q.Table.Columns, 0, 0)
	if err := r.Next(t.Context(), b); err != nil || b.Rows != 10 {
		t.Fatalf("first Next: %d rows, %v", b.Rows, err)
	}
	for range 2 {
		if err := r.Next(t.Context(), b); err != io.EOF || b.Rows != 0 {
			t.Fatalf("Next at the end: %d rows, %v", b.Rows, err)
		}
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	endless := sequence(1)
	endless.endless = true
	s.set("NUMBERS", endless)
	if r, err = source.Read(t.Context(), q, at("7"), extract.PlanSingle()[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Next(t.Context(), b); err == nil {
		t.Fatal("a closed reader reads on")
	}
}

func TestWhichReader(t *testing.T) {
	s := newScript()
	s.set("NUMBERS", sequence(3))
	national := answer{columns: []ora.Column{{Name: "T", Type: ora.Type{Code: ora.Varchar2, Bytes: 20, Chars: 10, Form: ora.FormNational}}}}
	national.rows = append(national.rows, []ora.Value{{0xAC, 0x80}}) // 검
	s.set("NAMES", national)
	names := extract.Query{Table: &extract.Table{Name: extract.TableName{Schema: "APP", Name: "NAMES"},
		Columns: []extract.Column{{Name: "T", Declared: "NVARCHAR2(10)", Type: extract.Type{Kind: extract.Text, Length: 10}}}}}
	source, _ := serve(t, s, nil)
	for range 2 {
		wantReader(t, source, numbers(), ReaderThin, "")
		wantReader(t, source, names, ReaderDriver, "NVARCHAR2")
	}
	if n := s.seen("NAMES"); n != 3 {
		t.Errorf("the query that the thin reader refuses was sent %d times, want once by it and twice by the driver", n)
	}
	thin, _ := serve(t, s, func(c *Config) { c.Reader = ReaderThin })
	if _, err := thin.Read(t.Context(), names, at("7"), extract.PlanSingle()[0]); !errors.Is(err, extract.ErrUnsupported) {
		t.Errorf("by the thin reader alone: %v, want ErrUnsupported", err)
	}
	driver, _ := serve(t, s, func(c *Config) { c.Reader = ReaderDriver })
	wantReader(t, driver, numbers(), ReaderDriver, "configuration")
}

// wantReader reads a query and looks which reader did, and why.
func wantReader(t *testing.T, source *Source, q extract.Query, name, why string) {
	t.Helper()
	r, err := source.Read(t.Context(), q, at("7"), extract.PlanSingle()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	gotName, gotWhy := r.(interface{ ReadBy() (string, string) }).ReadBy()
	if gotName != name || !strings.Contains(gotWhy, why) || (why == "") != (gotWhy == "") {
		t.Errorf("read by %s because %q; want %s because of %q", gotName, gotWhy, name, why)
	}
	b := extract.NewBatch(q.Table.Columns, 0, 0)
	if err := r.Next(t.Context(), b); err != nil || b.Rows == 0 {
		t.Errorf("%d rows, %v", b.Rows, err)
	}
}

// TestOneSessionForBothClients: the limit counts sessions of either client, idle ones too.
func TestOneSessionForBothClients(t *testing.T) {
	s := newScript()
	s.set("NUMBERS", sequence(10))
	source, _ := serve(t, s, func(c *Config) { c.MaxSessions = 1 })
	for range 3 {
		if _, err := source.Identity(t.Context()); err != nil { // by the driver
			t.Fatal(err)
		}
		if got, err := readAll(t.Context(), source, numbers(), 0); err != nil || len(got) != 10 {
			t.Fatalf("read %d rows, %v", len(got), err)
		}
	}
	if s.most != 1 {
		t.Errorf("%d sessions were open at once, want 1", s.most)
	}
}

// TestFallBackForTheWholeDatabase: what refuses everything is not tried again; what is no refusal is no reason.
func TestFallBackForTheWholeDatabase(t *testing.T) {
	r := newReaders(Config{Reader: ReaderAuto, Log: slog.New(slog.DiscardHandler)})
	if r.fallBack(extract.ErrUnreachable) || r.fallBack(&ttc.Error{Code: 1555}) {
		t.Error("an error that is no refusal makes the driver read")
	}
	if thin, _ := r.thin(numbers().Table.Columns); !thin {
		t.Error("the driver reads without a reason")
	}
	refused := fmt.Errorf("connect: %w", &ttc.UnsupportedError{What: "through native network encryption, which the server requires"})
	if !r.fallBack(refused) {
		t.Error("a refusal does not make the driver read")
	}
	if thin, why := r.thin(numbers().Table.Columns); thin || !strings.Contains(why, "native network encryption") {
		t.Errorf("thin %v, because %q; want the driver, because of native network encryption", thin, why)
	}
	if strict := newReaders(Config{Reader: ReaderThin}); strict.fallBack(refused) {
		t.Error("reader: thin falls back")
	}
}
