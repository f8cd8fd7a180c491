package orasim

import (
	"context"
	"database/sql"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	_ "github.com/sijms/go-ora/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const seedScript = `
CREATE TABLE app.insp (seq NUMBER(10) NOT NULL, insp_dt DATE, amount NUMBER(18,2), grade VARCHAR2(10));
INSERT INTO app.insp VALUES (1, DATE '2026-09-28', 71853075.00, 'A');
INSERT INTO app.insp VALUES (2, DATE '2026-09-28', -0.01, NULL);
COMMIT;
`

func start(t *testing.T, cfg Config) *Server {
	t.Helper()
	cfg.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func open(t *testing.T, url string) *sql.DB {
	t.Helper()
	db, err := sql.Open("oracle", url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestSeededServer(t *testing.T) {
	s := start(t, Config{User: "app", Password: "p/w:1@", Seed: seedScript})
	db := open(t, s.URL("app", "p/w:1@"))
	var scn string
	if err := db.QueryRow("SELECT TO_CHAR(current_scn) FROM v$database").Scan(&scn); err != nil {
		t.Fatal(err)
	}
	result, err := db.Exec("UPDATE insp SET amount = amount + 1 WHERE seq <= :1", 2)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); n != 2 || err != nil {
		t.Errorf("updated %d rows (%v), want 2", n, err)
	}
	for query, want := range map[string]string{
		"SELECT TO_CHAR(SUM(amount)) FROM insp":                                         "71853076.99",
		"SELECT TO_CHAR(SUM(amount)) FROM insp AS OF SCN " + scn:                        "71853074.99",
		"SELECT TO_CHAR(insp_dt, 'YYYY-MM-DD') FROM insp WHERE seq = 2":                 "2026-09-28",
		"SELECT NVL(grade, 'none') FROM app.insp WHERE seq = 2 AND insp_dt IS NOT NULL": "none",
	} {
		var got string
		if err := db.QueryRow(query).Scan(&got); err != nil {
			t.Errorf("%s: %v", query, err)
		} else if got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}

func TestWrongPasswordsLockTheAccount(t *testing.T) {
	s := start(t, Config{User: "APP", Password: "secret"})
	var err error
	for range 12 {
		if err = open(t, s.URL("APP", "wrong")).Ping(); err == nil {
			t.Fatal("a wrong password was taken")
		}
	}
	if err = open(t, s.URL("APP", "secret")).Ping(); err == nil || !strings.Contains(err.Error(), "ORA-28000") {
		t.Errorf("the right password after twelve wrong ones: got %v, want ORA-28000", err)
	}
}

func TestKill(t *testing.T) {
	s := start(t, Config{User: "APP", Password: "secret"})
	ctx := context.Background()
	conn, err := open(t, s.URL("APP", "secret")).Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	var sid, serial uint32
	if err := conn.QueryRowContext(ctx, "SELECT sid, serial# FROM v$session WHERE username = USER").Scan(&sid, &serial); err != nil {
		t.Fatal(err)
	}
	if err := s.Database().Kill(sid, serial); err != nil {
		t.Fatal(err)
	}
	if err := conn.PingContext(ctx); err == nil {
		t.Error("a killed session answered a ping")
	}
}

// TestSilentEndOfData is the fault that only a count can find.
func TestSilentEndOfData(t *testing.T) {
	s := start(t, Config{User: "app", Password: "secret", Seed: seedScript})
	s.Faults().Set(Fault{Match: Match{SQL: "FROM insp"}, Kind: FaultEarlyEnd, AtRow: 1, Times: 1})
	db := open(t, s.URL("app", "secret")+"?PREFETCH_ROWS=1")
	for round, want := range []int{1, 2} {
		rows, err := db.Query("SELECT seq FROM insp")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n != want {
			t.Errorf("round %d: got %d rows and %v, want %d and no error", round, n, err, want)
		}
		_ = rows.Close()
	}
}

func TestBadStart(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		want string
	}{
		"seed":     {Config{Seed: "SELECT 1 FROM dual;\nSELECT 1 FROM nosuch;"}, "seed: line 2: ORA-00942"},
		"unclosed": {Config{Seed: "SELECT 'a FROM dual"}, "line 1"},
		"user":     {Config{User: "a b", Password: "secret"}, `create user "a b"`},
		"address":  {Config{Listen: "127.0.0.1:nosuch"}, "start server"},
	} {
		s, err := Start(c.cfg)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q in it", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

func TestURL(t *testing.T) {
	s := start(t, Config{})
	u, err := url.Parse(s.URL("app", "p/w:1@"))
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := u.User.Password(); p != "p/w:1@" || u.Host != s.Addr() || u.Path != "/"+s.Service() {
		t.Errorf("got %s", u)
	}
	if got := s.URL("app", ""); strings.Contains(got, "app:") {
		t.Errorf("a URL without a password: got %s", got)
	}
}
