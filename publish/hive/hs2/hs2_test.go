package hs2

import (
	"context"
	"errors"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/beltran/gohive/hiveserver"
)

func open(t *testing.T, cfg Config) *Session {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

func TestLoginErrors(t *testing.T) {
	closed := func() string { // an address where nothing listens
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		return l.Addr().String()
	}()
	f := &fake{password: "right"}
	framed := f.start(t, true)
	for _, tt := range []struct {
		name string
		cfg  func(Config) Config
		is   error
		says string
	}{
		{"wrong password", func(c Config) Config { return c }, ErrAuth, "Error validating the login"},
		{"nothing listens", func(c Config) Config { c.Address = closed; return c }, ErrUnreachable, closed},
		{"kerberos", func(c Config) Config { c.Auth = Kerberos; return c }, ErrUnsupported, "KERBEROS"},
		{"unknown authentication", func(c Config) Config { c.Auth = "MAGIC"; return c }, ErrUnsupported, "MAGIC"},
		{"NOSASL to a SASL server", func(c Config) Config { c.Auth = NoSASL; return c }, ErrUnreachable, "hive.server2.authentication"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Open(t.Context(), tt.cfg(framed))
			if !errors.Is(err, tt.is) {
				t.Fatalf("error %v is not %v", err, tt.is)
			}
			if !strings.Contains(err.Error(), tt.says) {
				t.Errorf("error %q does not say %q", err, tt.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q tells the password", err)
			}
		})
	}
}

func TestNoSASL(t *testing.T) {
	cfg := (&fake{}).start(t, false)
	cfg.Auth = NoSASL
	if v, err := open(t, cfg).Ping(t.Context()); err != nil || v != "4.0.1" {
		t.Fatalf("Ping = %q, %v", v, err)
	}
}

func TestOpenSessionChecksStatus(t *testing.T) {
	f := &fake{open: func() *hiveserver.TStatus { return failure(0, "08S01", "too many sessions") }}
	_, err := Open(t.Context(), f.start(t, true))
	var e *Error
	if !errors.As(err, &e) || e.Phase != PhaseSession || e.SQLState != "08S01" {
		t.Fatalf("error %v, want one of phase session", err)
	}
}

func TestExecuteRefusedAndFailed(t *testing.T) {
	f := &fake{
		execute: func(r *hiveserver.TExecuteStatementReq) (*hiveserver.TStatus, bool) {
			if r.Statement == "bad" {
				return failure(10001, "42S02", "Error while compiling statement"), true
			}
			return success, true
		},
		status: func() *hiveserver.TGetOperationStatusResp {
			st, code, text := state(hiveserver.TOperationState_ERROR_STATE), int32(2), "Error while compiling statement"
			st.ErrorCode, st.ErrorMessage = &code, &text
			return st
		},
	}
	s := open(t, f.start(t, true))
	var e *Error
	if _, err := s.Execute(t.Context(), "bad", nil); !errors.As(err, &e) || e.Phase != PhaseExecute || e.Code != 10001 {
		t.Fatalf("refused: %v, want code 10001 of phase execute", err)
	}
	o, err := s.Execute(t.Context(), "good", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Wait(t.Context(), nil); !errors.As(err, &e) || e.Phase != PhaseRun || e.Code != 2 {
		t.Fatalf("failed: %v, want code 2 of phase run", err)
	}
	if !s.Usable() {
		t.Error("session is not usable after answers")
	}
}

func TestDeadlineBreaksTheSession(t *testing.T) {
	release := make(chan struct{})
	f := &fake{execute: func(*hiveserver.TExecuteStatementReq) (*hiveserver.TStatus, bool) { <-release; return success, true }}
	cfg := f.start(t, true)
	t.Cleanup(func() { close(release) })
	cfg.CompileTimeout = 20 * time.Millisecond
	s := open(t, cfg)
	if _, err := s.Execute(t.Context(), "slow", nil); !errors.Is(err, ErrUnreachable) {
		t.Fatalf("error %v, want ErrUnreachable", err)
	}
	if s.Usable() {
		t.Error("session is usable, its answers are out of step")
	}
	if _, err := s.Execute(t.Context(), "next", nil); !errors.Is(err, ErrUnreachable) {
		t.Errorf("next statement: %v, want ErrUnreachable", err)
	}
	if n := count(f.calls(), "ExecuteStatement"); n != 1 {
		t.Errorf("%d statements were sent, want 1", n)
	}
}

func count(names []string, name string) int {
	n := 0
	for _, s := range names {
		if s == name {
			n++
		}
	}
	return n
}

func TestCancelledWaitCancelsTheOperation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	f := &fake{status: func() *hiveserver.TGetOperationStatusResp {
		return state(hiveserver.TOperationState_RUNNING_STATE)
	}}
	s := open(t, f.start(t, true))
	o, err := s.Execute(ctx, "long", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = o.Wait(ctx, func(Status) { cancel(stop) })
	if !errors.Is(err, stop) {
		t.Fatalf("error %v, want the cause", err)
	}
	if got := f.calls(); !slices.Contains(got, "CancelOperation") {
		t.Errorf("calls %v have no CancelOperation", got)
	}
}

func TestCancelledExecuteClosesTheSession(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	f := &fake{execute: func(*hiveserver.TExecuteStatementReq) (*hiveserver.TStatus, bool) {
		cancel()
		<-release
		return success, true
	}}
	cfg := f.start(t, true)
	t.Cleanup(func() { close(release) })
	s := open(t, cfg)
	if _, err := s.Execute(ctx, "long", nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want canceled", err)
	}
	if err := s.Close(ctx); err != nil {
		t.Fatalf("close through a new connection: %v", err)
	}
	if got := f.calls(); got[len(got)-1] != "CloseSession" {
		t.Errorf("calls %v do not end with CloseSession", got)
	}
}

func TestHandlesSurviveText(t *testing.T) {
	h := SessionHandle{id: *id(3)}
	got, err := ParseSessionHandle(h.Text())
	if err != nil || !reflect.DeepEqual(got, h) {
		t.Fatalf("session handle %v, %v, want %v", got, err, h)
	}
	if want := "03030303-0303-0303-0303-030303030303"; h.String() != want {
		t.Errorf("name %s, want %s", h, want)
	}
	o := OperationHandle{h: hiveserver.TOperationHandle{OperationId: id(9), OperationType: 0, HasResultSet: true}}
	back, err := ParseOperationHandle(o.Text())
	if err != nil || !reflect.DeepEqual(back, o) {
		t.Fatalf("operation handle %v, %v, want %v", back, err, o)
	}
	text := h.Text()
	for _, bad := range []string{"", "x", text[:len(text)-1], "B" + text[1:], text + ".1"} {
		if _, err := ParseSessionHandle(bad); err == nil {
			t.Errorf("ParseSessionHandle(%q) took a damaged handle", bad)
		}
	}
}

func TestRowsTellNullsApart(t *testing.T) {
	sets := []*hiveserver.TRowSet{
		{Columns: []*hiveserver.TColumn{
			{StringVal: &hiveserver.TStringColumn{Values: []string{"", "", "NULL"}, Nulls: []byte{0b010}}},
			{I64Val: &hiveserver.TI64Column{Values: []int64{-1, 0, 0}, Nulls: []byte{0b100}}},
			{BinaryVal: &hiveserver.TBinaryColumn{Values: [][]byte{{0xff}, nil, nil}}},
		}},
		{},
	}
	f := &fake{fetch: func() *hiveserver.TRowSet { r := sets[0]; sets = sets[1:]; return r }}
	s := open(t, f.start(t, true))
	o, err := s.Execute(t.Context(), "select", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Rows(t.Context())
	want := [][]Value{{{Text: ""}, {Text: "-1"}, {Text: "ff"}}, {{Null: true}, {Text: "0"}, {}}, {{Text: "NULL"}, {Null: true}, {}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("rows %v, %v, want %v", got, err, want)
	}
}

func TestPool(t *testing.T) {
	f := &fake{}
	prepared := 0
	p := NewPool(f.start(t, true), 1, func(context.Context, *Session) error { prepared++; return nil })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := p.With(t.Context(), func(s *Session) error { _, err := s.Ping(t.Context()); return err }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := count(f.calls(), "OpenSession"); got != 1 || prepared != 1 {
		t.Errorf("%d sessions opened, %d prepared, want 1 and 1", got, prepared)
	}
	p.With(t.Context(), func(s *Session) error { s.conn.close(); return nil }) // lost: must not come back
	if err := p.With(t.Context(), func(s *Session) error { _, err := s.Ping(t.Context()); return err }); err != nil {
		t.Fatal(err)
	}
	if got := count(f.calls(), "OpenSession"); got != 2 {
		t.Errorf("%d sessions opened, want 2", got)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.With(t.Context(), func(*Session) error { return nil }); !errors.Is(err, ErrPoolClosed) {
		t.Errorf("With after Close: %v", err)
	}
}

func TestMessageHasNoStackTrace(t *testing.T) {
	in := "Vertex failed, got 'b' at line 5: optional a b\n\tat org.apache.hadoop.hive.ql.exec.tez.TezProcessor.run(TezProcessor.java:276)\n" +
		"\tat java.base/java.lang.Thread.run(Thread.java:840)\n\tat sun.Foo$1.<init>(Unknown Source)\nCaused by: x"
	if got, want := cutMessage(in), "Vertex failed, got 'b' at line 5: optional a b Caused by: x"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := len([]rune(cutMessage(strings.Repeat("가", 5000)))); got != longestMessage+1 {
		t.Errorf("a long message is kept to %d characters", got)
	}
}
