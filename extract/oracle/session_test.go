package oracle

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

var theIdentity = extract.Identity{DBID: "1234567890", UniqueName: "SALES", Container: "SALESPDB"}

func TestIdentityAndSessionReuse(t *testing.T) {
	s := newScript()
	source, _ := serve(t, s, nil)
	for range 3 {
		id, err := source.Identity(t.Context())
		if err != nil || id != theIdentity {
			t.Fatalf("Identity = %+v, %v; want %+v", id, err, theIdentity)
		}
	}
	if s.sessions != 1 || s.seen(pinSession) != 1 || s.seen("DBMS_APPLICATION_INFO") != 0 {
		t.Fatalf("%d sessions, pinned %d times, marked %d times; want 1, 1 and 0", s.sessions, s.seen(pinSession), s.seen("DBMS_APPLICATION_INFO"))
	}
}

func TestAnotherDatabaseAnswers(t *testing.T) {
	s := newScript()
	source, _ := serve(t, s, nil)
	for name, id := range map[string]extract.Identity{
		"clone":     {DBID: "99", UniqueName: "SALES", Container: "SALESPDB"},
		"standby":   {DBID: "1234567890", UniqueName: "SALES_DR", Container: "SALESPDB"},
		"container": {DBID: "1234567890", UniqueName: "SALES", Container: "HRPDB"},
	} {
		if _, err := source.As(extract.Session{}, id).Snapshot(t.Context()); !errors.Is(err, extract.ErrIdentity) {
			t.Errorf("%s: %v, want ErrIdentity", name, err)
		}
	}
	unknown := theIdentity
	unknown.DBID = ""
	if _, err := source.As(extract.Session{}, unknown).Identity(t.Context()); err != nil {
		t.Errorf("a plan that did not see the DBID: %v", err)
	}
}

func TestWhatADatabaseMayRefuse(t *testing.T) {
	s := newScript()
	s.set(selectIdentity, answer{err: ora.Errorf(942, "table or view does not exist")})
	s.set(selectIdentityNoDBID, texted([]string{"", "SALES", "SALESPDB", "APP", "AMERICAN_AMERICA.AL32UTF8"}))
	s.set(markSession, answer{err: ora.Errorf(6550, "PLS-00201: identifier 'DBMS_APPLICATION_INFO' must be declared")})
	source, _ := serve(t, s, nil)
	marked := source.As(extract.Session{Action: "JOB/2026-09-28", Client: "run"}, extract.Identity{})
	for range 2 {
		id, err := marked.Identity(t.Context())
		if want := (extract.Identity{UniqueName: "SALES", Container: "SALESPDB"}); err != nil || id != want {
			t.Fatalf("Identity = %+v, %v; want %+v", id, err, want)
		}
	}
	if s.seen(markSession) != 1 || s.seen(selectIdentity) != 1 {
		t.Fatalf("what was refused was tried again: %q", s.texts)
	}
}

func TestSnapshot(t *testing.T) {
	s := newScript()
	now := []string{"81234567890123", "2026-09-28 15:00:01"}
	refused := answer{err: ora.Errorf(904, "\"DBMS_FLASHBACK\".\"GET_SYSTEM_CHANGE_NUMBER\": invalid identifier")}
	source, _ := serve(t, s, nil)
	want := extract.Snapshot{SCN: "81234567890123", Time: "2026-09-28T15:00:01Z"}

	s.set(selectSCNFlashback, texted(now))
	if got, err := source.Snapshot(t.Context()); err != nil || got != want {
		t.Fatalf("by DBMS_FLASHBACK: %+v, %v; want %+v", got, err, want)
	}
	s.set(selectSCNFlashback, refused)
	s.set(selectSCNVDatabase, texted(now))
	if got, err := source.Snapshot(t.Context()); err != nil || got != want {
		t.Fatalf("by V$DATABASE: %+v, %v; want %+v", got, err, want)
	}
	s.set(selectSCNVDatabase, answer{err: ora.Errorf(942, "table or view does not exist")})
	_, err := source.Snapshot(t.Context())
	if !errors.Is(err, extract.ErrPrivilege) || !strings.Contains(err.Error(), "GRANT EXECUTE ON DBMS_FLASHBACK TO APP") {
		t.Fatalf("without either: %v, want ErrPrivilege with the GRANT", err)
	}
}

func TestLoginErrors(t *testing.T) {
	s := newScript()
	for name, c := range map[string]struct {
		change func(*Config)
		is     error
		want   string
	}{
		"wrong password": {func(c *Config) { c.Password = func() (string, error) { return "sesame-77", nil } }, extract.ErrAuth, "ORA-01017"},
		"unknown user":   {func(c *Config) { c.User = "NOBODY" }, extract.ErrAuth, "NOBODY@"},
		"service":        {func(c *Config) { c.Service = "NOSUCH" }, extract.ErrUnreachable, "ORA-12514"},
		"port":           {func(c *Config) { c.Port = closedPort(t) }, extract.ErrUnreachable, "connection refused"},
		"no password":    {func(c *Config) { c.Password = func() (string, error) { return "", errors.New("file is gone") } }, nil, "file is gone"},
	} {
		source, _ := serve(t, s, c.change)
		_, err := source.Identity(t.Context())
		if err == nil || (c.is != nil && !errors.Is(err, c.is)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %v with %q", name, err, c.is, c.want)
		}
		for _, secret := range []string{testPassword, "sesame-77", "Tiger"} {
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v shows the password", name, err)
			}
		}
	}
}

// TestCase_PDB_028 has the adapter's part: the service is found in any case, the user is passed on as written.
func TestCase_PDB_028(t *testing.T) {
	source, _ := serve(t, newScript(), func(c *Config) { c.Service = "saLes" })
	if _, err := source.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// closedPort is a port that nothing listens on.
func closedPort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestSessionInit(t *testing.T) {
	s := newScript()
	source, _ := serve(t, s, nil)
	const own = `ALTER SESSION SET "_serial_direct_read"=ALWAYS`
	with := source.As(extract.Session{Init: []string{own}}, extract.Identity{})
	for _, x := range []extract.Source{with, source, with} {
		if _, err := x.Identity(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if s.sessions != 2 || s.seen(own) != 1 {
		t.Fatalf("%d sessions, set up by the job %d times; want 2 and 1: a session is not shared with who did not ask for it", s.sessions, s.seen(own))
	}
	bad := source.As(extract.Session{Init: []string{"DROP TABLE T"}}, extract.Identity{})
	if _, err := bad.Identity(t.Context()); !errors.Is(err, extract.ErrUnsupported) || s.seen("DROP") != 0 {
		t.Fatalf("a DROP in session_init: %v, want ErrUnsupported and nothing sent", err)
	}
}

func TestNeverMoreThanMaxSessions(t *testing.T) {
	s := newScript()
	s.set("NUMBERS", sequence(5000))
	source, _ := serve(t, s, nil) // 2 sessions
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			as := extract.Session{FetchRows: 100 + i%3} // sessions of three kinds, so idle ones must give way
			got, err := readAll(t.Context(), source.As(as, extract.Identity{}), numbers(), 0)
			if err != nil || len(got) != 5000 {
				t.Errorf("read %d rows, %v", len(got), err)
			}
		})
	}
	wg.Wait()
	if s.most > 2 {
		t.Fatalf("%d sessions were open at once, the limit is 2", s.most)
	}
	held, err := source.pool.take(t.Context(), wanted{kind: kind{prefetch: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer source.pool.give(held)
	other, err := source.pool.take(t.Context(), wanted{kind: kind{prefetch: 1}})
	if err != nil {
		t.Fatal(err)
	}
	defer source.pool.give(other)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := source.pool.take(ctx, wanted{kind: kind{prefetch: 1}}); !errors.Is(err, context.Canceled) {
		t.Fatalf("waiting for a session: %v, want the context's end", err)
	}
}

func TestIdleSessionThatDiedIsReplaced(t *testing.T) {
	s := newScript()
	source, server := serve(t, s, nil)
	if _, err := source.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	dead := server.Faults().Set(wire.Fault{Kind: wire.FaultClose, Match: wire.Match{SQL: "DB_UNIQUE_NAME"}, Times: 1})
	if _, err := source.Identity(t.Context()); err != nil {
		t.Fatalf("with a dead idle session: %v", err)
	}
	if dead.Struck() != 1 || s.sessions != 2 {
		t.Fatalf("the fault struck %d times, %d sessions; want 1 and 2", dead.Struck(), s.sessions)
	}
}

func TestIdleSessionsExpire(t *testing.T) {
	s := newScript()
	source, _ := serve(t, s, func(c *Config) { c.IdleTimeout = time.Millisecond })
	if _, err := source.Identity(t.Context()); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for idle := 1; idle > 0; {
		source.pool.mu.Lock()
		idle = len(source.pool.idle) + source.pool.open
		source.pool.mu.Unlock()
		if time.Now().After(deadline) {
			t.Fatal("the idle session is still there")
		}
	}
}

func TestClosedSource(t *testing.T) {
	source, _ := serve(t, newScript(), nil)
	if err := source.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Identity(t.Context()); !errors.Is(err, errClosed) {
		t.Fatalf("after Close: %v", err)
	}
}
