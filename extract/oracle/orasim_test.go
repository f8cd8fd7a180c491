package oracle_test

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/extracttest"
	"github.com/loadctl/loadctl/extract/oracle"
	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/ora"
	"github.com/loadctl/loadctl/integration/orasim/sql"
)

const password = "Tiger-77"

// harness is a simulated Oracle server with the users APP, which the product logs in as, and OTHER.
type harness struct {
	server *orasim.Server
	reader string
}

func start(t *testing.T) *harness {
	t.Helper()
	server, err := orasim.Start(orasim.Config{Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	h := &harness{server: server}
	for _, user := range []string{"APP", "OTHER"} {
		h.run(t, "SYS", fmt.Sprintf("CREATE USER %s IDENTIFIED BY \"%s\";\nGRANT CONNECT, RESOURCE TO %s;\n", user, password, user))
	}
	h.run(t, "SYS", "GRANT EXECUTE ON DBMS_FLASHBACK TO APP;")
	return h
}

func (h *harness) run(t *testing.T, user, script string) {
	t.Helper()
	if err := h.server.Run(user, script); err != nil {
		t.Errorf("as %s: %v in %.300s", user, err, script)
	}
}

func (h *harness) connect(t *testing.T, change func(*oracle.Config)) extract.Source {
	t.Helper()
	host, port, err := net.SplitHostPort(h.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	cfg := oracle.Config{Host: host, Port: n, Service: h.server.Service(), User: "APP",
		Password: func() (string, error) { return password, nil },
		Reader:   h.reader,
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil))}
	if change != nil {
		change(&cfg)
	}
	source, err := oracle.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source
}

func (h *harness) Source(t *testing.T) extract.Source { return h.connect(t, nil) }

func (h *harness) Broken(t *testing.T, how extracttest.Refusal) extract.Source {
	return h.connect(t, func(c *oracle.Config) {
		switch how {
		case extracttest.WrongPassword:
			c.Password = func() (string, error) { return "wrong", nil }
		case extracttest.Nobody:
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			c.Port = l.Addr().(*net.TCPAddr).Port
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func quoted(n extract.TableName) string { return fmt.Sprintf("%q.%q", n.Schema, n.Name) }

func (h *harness) Create(t *testing.T, name extract.TableName, columns []extract.Column, key ...string) {
	t.Helper()
	var defs []string
	for _, c := range columns {
		def := fmt.Sprintf("%q %s", c.Name, declare(c.Type))
		if !c.Nullable {
			def += " NOT NULL"
		}
		defs = append(defs, def)
	}
	if len(key) > 0 {
		defs = append(defs, `PRIMARY KEY ("`+strings.Join(key, `", "`)+`")`)
	}
	h.run(t, name.Schema, fmt.Sprintf("CREATE TABLE %s (%s);", quoted(name), strings.Join(defs, ", ")))
}

func declare(typ extract.Type) string {
	switch {
	case typ.Kind == extract.Decimal:
		return fmt.Sprintf("NUMBER(%d,%d)", typ.Precision, typ.Scale)
	case typ.Kind == extract.Timestamp && typ.Scale == 0:
		return "DATE"
	case typ.Kind == extract.Timestamp:
		return fmt.Sprintf("TIMESTAMP(%d)", typ.Scale)
	case typ.Fixed:
		return fmt.Sprintf("CHAR(%d CHAR)", typ.Length)
	default:
		return fmt.Sprintf("VARCHAR2(%d CHAR)", typ.Length)
	}
}

func (h *harness) Private(t *testing.T, name extract.TableName, columns []extract.Column) {
	t.Helper()
	h.Create(t, name, columns)
}

// Insert writes a value as what its text looks like: Oracle converts numbers by itself.
func (h *harness) Insert(t *testing.T, name extract.TableName, rows [][]*string) {
	t.Helper()
	var script strings.Builder
	for _, row := range rows {
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = literal(v)
		}
		fmt.Fprintf(&script, "INSERT INTO %s VALUES (%s);\n", quoted(name), strings.Join(values, ", "))
	}
	h.run(t, name.Schema, script.String())
}

func literal(v *string) string {
	if v == nil {
		return "NULL"
	}
	if _, _, err := extract.ParseTimestamp(*v); err == nil {
		return "TIMESTAMP '" + *v + "'"
	}
	if _, err := extract.CompareDecimal(*v, "0"); err == nil {
		return *v
	}
	return "'" + strings.ReplaceAll(*v, "'", "''") + "'"
}

func (h *harness) Delete(t *testing.T, name extract.TableName, column, value string) {
	t.Helper()
	h.run(t, name.Schema, fmt.Sprintf("DELETE FROM %s WHERE %q = %s;", quoted(name), column, value))
}

func (h *harness) Forget(t *testing.T) {
	store := h.server.Database().Store()
	store.ForgetUndoBefore(store.SCN())
}

// stream matches the statements that read rows of a table, not those that describe or count.
func stream(name extract.TableName) orasim.Match {
	return orasim.Match{SQL: `FROM ` + quoted(name) + ` AS OF`}
}

func (h *harness) EndEarly(t *testing.T, name extract.TableName, n int) {
	h.server.Faults().Set(orasim.Fault{Kind: orasim.FaultEarlyEnd, Match: stream(name), AtRow: int64(n), Times: 1})
}

func (h *harness) Stall(t *testing.T, name extract.TableName, n int) <-chan struct{} {
	return h.server.Faults().Set(orasim.Fault{Kind: orasim.FaultStall, Match: stream(name), AtRow: int64(n), Times: 1}).Hit()
}

func (h *harness) Cut(t *testing.T, name extract.TableName, n int) {
	h.server.Faults().Set(orasim.Fault{Kind: orasim.FaultClose, Match: stream(name), AtRow: int64(n), Times: 1})
}

func TestSource(t *testing.T) {
	for _, reader := range []string{oracle.ReaderThin, oracle.ReaderDriver} {
		t.Run(reader, func(t *testing.T) {
			extracttest.Run(t, func(t *testing.T) extracttest.Harness {
				h := start(t)
				h.reader = reader
				return h
			})
		})
	}
}

// TestSessionsShowWhoAsks looks at the product from a DBA's side.
func TestSessionsShowWhoAsks(t *testing.T) {
	h := start(t)
	h.run(t, "APP", "CREATE TABLE T (N NUMBER(5)); INSERT INTO T VALUES (1);")
	source := h.Source(t).As(extract.Session{Action: "INSP_DTL/2026-09-28", Client: "0198f2b4-0000-7000-8000-000000000001"}, extract.Identity{})
	wantRows(t, read(t, source, extract.Selection{Table: app("T")}, ""), "1")
	dba, err := h.server.Database().Connect(ora.Login{User: "SYS", Service: h.server.Service()})
	if err != nil {
		t.Fatal(err)
	}
	defer dba.Close()
	got, err := dba.(*sql.Session).Query(t.Context(), "SELECT MODULE, ACTION, CLIENT_IDENTIFIER FROM V$SESSION WHERE USERNAME = 'APP'")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		t.Fatal("no session is open")
	}
	for _, row := range got {
		if text := strings.Join(row, " "); text != "loadctl INSP_DTL/2026-09-28 0198f2b4-0000-7000-8000-000000000001" {
			t.Errorf("a session shows as %q", text)
		}
	}
}
