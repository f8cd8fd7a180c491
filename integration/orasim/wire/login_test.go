package wire_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loadctl/loadctl/integration/orasim/wire"
)

func selectOne(db *sql.DB) error {
	var one int
	if err := db.QueryRow("SELECT 1 FROM DUAL").Scan(&one); err != nil {
		return err
	}
	if one != 1 {
		return fmt.Errorf("got %d, want 1", one)
	}
	return nil
}

func TestLogin(t *testing.T) {
	for name, change := range map[string]func(*wire.Config){
		"12c verifier":     nil,
		"11g verifier":     func(c *wire.Config) { c.Verifier = wire.Verifier11g },
		"native services":  func(c *wire.Config) { c.ANO = true },
		"small packets":    func(c *wire.Config) { c.MaxSDU = 512 },
		"field version 7":  func(c *wire.Config) { c.FieldVersion = 7 },
		"field version 9":  func(c *wire.Config) { c.FieldVersion = 9 },
		"field version 11": func(c *wire.Config) { c.FieldVersion = 11 },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			db := open(t, start(t, f, change), "")
			if err := selectOne(db); err != nil {
				t.Fatal(err)
			}
			if err := db.Ping(); err != nil {
				t.Fatal(err)
			}
			if got := f.noted("ALTER SESSION"); len(got) != 1 || !strings.Contains(got[0], "TIME_ZONE") {
				t.Errorf("settings of the login: got %q, want one ALTER SESSION with the time zone", got)
			}
			login := f.sessions[0].login
			if login.User != user || login.Service != service || login.Program == "" || login.PID == "" {
				t.Errorf("login: got %+v", login)
			}
		})
	}
}

func TestLoginRefused(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	for name, c := range map[string]struct{ url, want string }{
		"wrong password":  {dsn(s, "tiger-10", ""), "ORA-01017"},
		"unknown user":    {strings.Replace(dsn(s, password, ""), user, "NOBODY", 1), "ORA-01017"},
		"unknown service": {strings.Replace(dsn(s, password, ""), service, "NOSUCH", 1), "ORA-12514"},
		"unknown sid":     {strings.Replace(dsn(s, password, "SID=NOSUCH"), "/"+service, "/", 1), "ORA-12505"},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open("oracle", c.url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			if err := db.Ping(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
		})
	}
	slices.Sort(f.failed)
	if got, want := slices.Compact(f.failed), []string{user, "NOBODY"}; !slices.Equal(got, want) {
		t.Errorf("failed logins: got %q, want %q", got, want)
	}
	if len(f.sessions) != 0 {
		t.Errorf("%d sessions were opened", len(f.sessions))
	}
}

func TestManySessionsOneAfterAnother(t *testing.T) {
	f := newFake()
	s := start(t, f, nil)
	for range 20 {
		db := open(t, s, "")
		if err := selectOne(db); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := len(f.noted("close")); got != 20 {
		t.Errorf("sessions closed: got %d, want 20", got)
	}
}
