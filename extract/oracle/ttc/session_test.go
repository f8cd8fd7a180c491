package ttc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

// sequence makes a table of the numbers 1..n.
func sequence(t testing.TB, server *orasim.Server, n int) {
	t.Helper()
	script(t, server, "CREATE TABLE NUMBERS (N NUMBER(9));")
	rows := make([][]ora.Value, n)
	for i := range rows {
		rows[i] = []ora.Value{ora.EncodeInt(int64(i + 1))}
	}
	insert(t, server, "INSERT INTO NUMBERS VALUES (:1)", []ora.Type{{Code: ora.Number, Scale: ora.ScaleFloating, Bytes: 22}}, rows)
}

func numbers(fetch int) Query {
	return Query{Text: "SELECT N FROM APP.NUMBERS", Fetch: fetch, Columns: []extract.Column{
		{Name: "N", Declared: "NUMBER(9)", Type: extract.Type{Kind: extract.Decimal, Precision: 9}},
	}}
}

// wantNumbers demands that the session reads 1..n, as one that is in step does.
func wantNumbers(t testing.TB, s *Session, n int) {
	t.Helper()
	got, err := readTexts(t.Context(), s, numbers(64), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != n {
		t.Fatalf("read %d rows, want %d", len(got), n)
	}
	for i, row := range got {
		if row[0] != fmt.Sprint(i+1) {
			t.Fatalf("row %d is %s", i+1, row[0])
		}
	}
}

func wantCode(t testing.TB, err error, code int) {
	t.Helper()
	var said *Error
	if !errors.As(err, &said) || said.Code != code || !strings.HasPrefix(said.Message, fmt.Sprintf("ORA-%05d", code)) {
		t.Fatalf("err = %v, want ORA-%05d", err, code)
	}
}

func TestLogin(t *testing.T) {
	for name, w := range map[string]wire.Config{
		"12c": {Verifier: wire.Verifier12c}, "11g": {Verifier: wire.Verifier11g}, "12c with native services": {Verifier: wire.Verifier12c, ANO: true},
		"12c with field version 7": {FieldVersion: 7}, "11g with a small SDU": {Verifier: wire.Verifier11g, MaxSDU: 512},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, w)
			sequence(t, server, 3)
			wantNumbers(t, connect(t, configOf(server)), 3)
			for what, c := range map[string]struct {
				change func(*Config)
				code   int
			}{
				"wrong password":  {func(c *Config) { c.Password = "wrong" }, 1017},
				"unknown user":    {func(c *Config) { c.User = "NOBODY" }, 1017},
				"unknown service": {func(c *Config) { c.Service = "nowhere" }, 12514},
				"a quoted user":   {func(c *Config) { c.User = `"app"` }, 1017},
			} {
				cfg := configOf(server)
				c.change(&cfg)
				_, err := Connect(t.Context(), cfg)
				if err == nil {
					t.Fatalf("%s: connected", what)
				}
				wantCode(t, err, c.code)
			}
		})
	}
}

func TestLongDescriptor(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 3)
	cfg := configOf(server)
	cfg.Program = strings.Repeat("x", 300)
	wantNumbers(t, connect(t, cfg), 3)
}

// answering is a listener that answers CONNECT with these bytes. It returns its address.
func answering(t *testing.T, packets ...[]byte) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			if _, _, err := newLink(nc).whole(); err == nil {
				for _, p := range packets {
					_, _ = nc.Write(p)
				}
			}
			_, _ = io.Copy(io.Discard, nc)
			nc.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String()
}

func packet(kind byte, body []byte) []byte {
	return new(link).frame(make([]byte, headerLen), kind, body)
}

func acceptBody(change func([]byte)) []byte {
	b := make([]byte, 45-headerLen)
	b[0], b[1] = 318>>8, 318&0xFF
	b[32-headerLen+2] = 0x20 // SDU 8192
	change(b)
	return b
}

func TestConnectAnswers(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 3)
	host, port, err := net.SplitHostPort(server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	cfg := configOf(server)
	there := "(ADDRESS=(PROTOCOL=tcp)(HOST=" + host + ")(PORT=" + port + "))"
	cfg.Address = answering(t, packet(packetRedirect, append([]byte{0, byte(len(there))}, there...)))
	wantNumbers(t, connect(t, cfg), 3)
	cfg.Address = answering(t, packet(packetRedirect, []byte{0, 0}), packet(packetData, append([]byte{0, 0}, there...)))
	wantNumbers(t, connect(t, cfg), 3)

	var refused *UnsupportedError
	for at := range 2 {
		cfg.Address = answering(t, packet(packetAccept, acceptBody(func(b []byte) { b[22-headerLen+at] = servicesRequired })))
		if _, err := Connect(t.Context(), cfg); !errors.As(err, &refused) || !strings.Contains(err.Error(), "native network encryption") {
			t.Errorf("native services required: %v, want UnsupportedError", err)
		}
	}
	for name, p := range map[string][]byte{
		"a DATA packet": packet(packetData, []byte{0, 0, 1}), "a short ACCEPT": packet(packetAccept, make([]byte, 10)),
		"an SDU of 0":   packet(packetAccept, acceptBody(func(b []byte) { b[32-headerLen+2] = 0 })),
		"a huge packet": {0, 7, 0, 0, packetAccept, 0, 0, 0}, "a REDIRECT to nowhere": packet(packetRedirect, []byte{0, 1, 'x'}),
		"RESEND for ever": append(append(packet(packetResend, nil), packet(packetResend, nil)...), packet(packetResend, nil)...),
	} {
		cfg.Address = answering(t, p)
		if _, err := Connect(t.Context(), cfg); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v, want ErrProtocol", name, err)
		}
	}
}

func TestCharacterSets(t *testing.T) {
	for charset, want := range map[byte]string{178: "number 178", 1: "number 1"} { // WE8MSWIN1252, US7ASCII
		protocol := append([]byte{1, 6, 0, 'x', 0, charset, 0, 1, 0, 0, 0, 0, 42}, make([]byte, 43)...)
		cfg := Config{Service: "X", User: "U", Password: "p"}
		cfg.Address = answering(t, packet(packetAccept, acceptBody(func([]byte) {})), packets(protocol, 100))
		var refused *UnsupportedError
		if _, err := Connect(t.Context(), cfg); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("character set %d: %v, want UnsupportedError", charset, err)
		}
	}
}

func TestConnectIsGivenUp(t *testing.T) {
	cfg := Config{Address: answering(t), Service: "X", User: "U", Password: "p"}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("enough"))
	defer cancel()
	if _, err := Connect(ctx, cfg); err == nil || err.Error() != "enough" {
		t.Errorf("err = %v, want the cause", err)
	}
}

// TestFailedResultNeverEnds: after an error, asking again does not look like the end of the rows.
func TestFailedResultNeverEnds(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 500)
	s := connect(t, configOf(server))
	server.Faults().Set(wire.Fault{Kind: wire.FaultError, Code: 1555, Match: wire.Match{SQL: "NUMBERS"}, AtRow: 150, Times: 1})
	q := numbers(100)
	rows, err := s.Query(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	b := extract.NewBatch(q.Columns, 0, 0)
	for err == nil {
		err = rows.Next(t.Context(), b)
	}
	wantCode(t, err, 1555)
	for range 2 {
		wantCode(t, rows.Next(t.Context(), b), 1555)
	}
}

func TestStatementErrors(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 500)
	s := connect(t, configOf(server))
	_, err := s.Query(t.Context(), Query{Text: "SELECT N FROM NOWHERE", Fetch: 10})
	wantCode(t, err, 942)
	var said *Error
	if errors.As(err, &said) && said.Position != 14 {
		t.Errorf("ORA-00942 at %d, want 14", said.Position)
	}
	for _, code := range []int{1555, 8181} {
		for _, row := range []int64{0, 1, 64, 100, 499} {
			server.Faults().Set(wire.Fault{Kind: wire.FaultError, Code: code, Match: wire.Match{SQL: "NUMBERS"}, AtRow: row, Times: 1})
			_, err := readTexts(t.Context(), s, numbers(64), 10, 0)
			wantCode(t, err, code)
			wantNumbers(t, s, 500) // by the same session
		}
	}
}

// TestLeavingEarly: a result that is closed before its end leaves the session in step, or broken.
func TestLeavingEarly(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 2000)
	s := connect(t, configOf(server))
	q := numbers(100)
	for _, batches := range []int{0, 1, 3, 9} {
		rows, err := s.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		b := extract.NewBatch(q.Columns, 70, 0)
		for range batches {
			if err := rows.Next(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
		rows.Close()
		if err := rows.Next(t.Context(), b); err == nil || err == io.EOF {
			t.Fatalf("a closed result: %v, which looks like its end", err)
		}
		if s.Broken() {
			t.Fatalf("the session is broken after %d batches of a server that answers at once: %v", batches, s.in.err)
		}
		wantNumbers(t, s, 2000)
	}
}

func TestUnsupportedColumnLeavesTheSessionInStep(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 2000)
	s := connect(t, configOf(server))
	q := numbers(500)
	q.Columns[0].Type = extract.Type{Kind: extract.Float64}
	var refused *UnsupportedError
	if _, err := s.Query(t.Context(), q); !errors.As(err, &refused) || refused.Declared != "NUMBER(9)" || !errors.Is(err, extract.ErrUnsupported) {
		t.Fatalf("err = %v, want UnsupportedError", err)
	}
	wantNumbers(t, s, 2000)
	q = numbers(500)
	q.Columns = append(q.Columns, q.Columns[0])
	if _, err := s.Query(t.Context(), q); !errors.Is(err, extract.ErrQuery) {
		t.Fatalf("another number of columns: %v, want ErrQuery", err)
	}
	wantNumbers(t, s, 2000)
}

func TestValueError(t *testing.T) {
	server := serve(t, wire.Config{})
	script(t, server, "CREATE TABLE T (N NUMBER(9,4), D DATE, S VARCHAR2(10)); INSERT INTO T VALUES (1, NULL, 'a'); INSERT INTO T VALUES (-12.3456, DATE '-4712-01-01', 'b');")
	number := extract.Column{Name: "N", Declared: "NUMBER(9,2)", Type: extract.Type{Kind: extract.Decimal, Precision: 9, Scale: 2}}
	date := extract.Column{Name: "D", Declared: "DATE", Type: extract.Type{Kind: extract.Timestamp}}
	for text, c := range map[string]struct {
		column extract.Column
		want   string
	}{
		"SELECT N FROM T": {number, `column "N" of row 2: value does not fit its type: -12.3456: it has more digits after the point than decimal(9,2) keeps`},
		"SELECT D FROM T": {date, `column "D" of row 2: value does not fit its type: -4712-01-01 00:00:00: its year is outside 0001..9999`},
	} {
		s := connect(t, configOf(server))
		_, err := readTexts(t.Context(), s, Query{Text: text, Fetch: 10, Columns: []extract.Column{c.column}}, 0, 0)
		if !errors.Is(err, extract.ErrValue) || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", text, err, c.want)
		}
		if !s.Broken() {
			t.Errorf("%s: the session is used on, with rows unread", text)
		}
	}
}

// TestFaults: whatever breaks a stream, it never looks like its end.
func TestFaults(t *testing.T) {
	server := serve(t, wire.Config{})
	sequence(t, server, 1000)
	for name, c := range map[string]struct {
		fault wire.Fault
		is    error
	}{
		"closed":        {wire.Fault{Kind: wire.FaultClose, AtRow: 500}, io.ErrUnexpectedEOF},
		"closed at 0":   {wire.Fault{Kind: wire.FaultClose, AtRow: 0}, io.ErrUnexpectedEOF},
		"half a packet": {wire.Fault{Kind: wire.FaultHalfPacket, AtRow: 500}, ErrProtocol}, // its first byte is no message,
		"stalled":       {wire.Fault{Kind: wire.FaultStall, AtRow: 500}, os.ErrDeadlineExceeded},
		"early end":     {wire.Fault{Kind: wire.FaultEarlyEnd, AtRow: 500}, extract.ErrShort},
		"counted less":  {wire.Fault{Kind: wire.FaultRowCount, Rows: 999}, extract.ErrShort},
		"counted more":  {wire.Fault{Kind: wire.FaultRowCount, Rows: 1001}, extract.ErrShort},
	} {
		s := connect(t, configOf(server))
		if c.fault.Kind == wire.FaultStall {
			s.SetPatience(100 * time.Millisecond)
		}
		c.fault.Match, c.fault.Times = wire.Match{SQL: "NUMBERS"}, 1
		if c.fault.Kind == wire.FaultRowCount {
			c.fault.Times = 0
		}
		server.Faults().Set(c.fault)
		got, err := readTexts(t.Context(), s, numbers(100), 33, 0)
		if !errors.Is(err, c.is) {
			t.Errorf("%s: read %d rows, %v; want %v", name, len(got), err, c.is)
		}
		if !s.Broken() {
			t.Errorf("%s: the session is used on", name)
		}
		server.Faults().Clear()
	}
}

// TestCancelIsQuick cancels in the middle of a fetch that the server is stuck in, whether it answers a break or not.
func TestCancelIsQuick(t *testing.T) {
	for name, fault := range map[string]wire.Fault{
		"a server that drips":   {Kind: wire.FaultDrip, Delay: time.Millisecond, Chunk: 64},
		"a server that is late": {Kind: wire.FaultLatency, Delay: 5 * time.Second},
		"a server that is dead": {Kind: wire.FaultStall, AtRow: 250},
	} {
		server := serve(t, wire.Config{MaxSDU: 512})
		sequence(t, server, 1000)
		s := connect(t, configOf(server))
		fault.Match = wire.Match{SQL: "NUMBERS"}
		stuck := server.Faults().Set(fault)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("the run was cancelled")
		var at time.Time
		go func() {
			<-stuck.Hit()
			at = time.Now()
			cancel(cause)
		}()
		if _, err := readTexts(ctx, s, numbers(100), 0, 0); !errors.Is(err, cause) {
			t.Fatalf("%s: %v, want the cause", name, err)
		}
		// 100 ms is what is promised; the rest is for a machine that is busy with other things.
		if took := time.Since(at); took > 100*time.Millisecond+3*time.Second {
			t.Errorf("%s: back after %s", name, took)
		} else {
			t.Logf("%s: back after %s, broken %v", name, took, s.Broken())
		}
		server.Faults().Clear()
		if !s.Broken() {
			wantNumbers(t, s, 1000)
		}
	}
}

// TestRandomCancels cancels at random instants. The session is then in step, or says that it is broken; never does it
// read another statement's rows.
func TestRandomCancels(t *testing.T) {
	server := serve(t, wire.Config{MaxSDU: 2048})
	sequence(t, server, 3000)
	s := connect(t, configOf(server))
	cancelled, broken := 0, 0
	for range 150 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(2500))*time.Microsecond)
		got, err := readTexts(ctx, s, numbers(1+rand.IntN(700)), 1+rand.IntN(500), 0)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			cancelled++
		case err != nil || len(got) != 3000:
			t.Fatalf("read %d rows, %v", len(got), err)
		}
		if s.Broken() {
			broken++
			s.Close()
			s = connect(t, configOf(server))
			continue
		}
		wantNumbers(t, s, 3000)
	}
	t.Logf("%d cancelled, %d of them broken", cancelled, broken)
	if cancelled < 20 || broken == cancelled {
		t.Errorf("%d cancelled, %d broken: the test shows little", cancelled, broken)
	}
}

func TestCursorsAreForgotten(t *testing.T) {
	server := serve(t, wire.Config{MaxCursors: 5})
	sequence(t, server, 10)
	s := connect(t, configOf(server))
	for range 20 {
		wantNumbers(t, s, 10)
		if err := s.Exec(t.Context(), "ALTER SESSION SET NLS_SORT='BINARY'", false); err != nil {
			t.Fatal(err)
		}
	}
}
