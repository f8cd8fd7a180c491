package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// openDB is a migrated database of the test's own, not opened yet.
func openDB(t *testing.T) ledgertest.Database {
	t.Helper()
	return ledgertest.New(t)
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	c := db.Cluster
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	closed := nobody.Addr().String()
	nobody.Close()
	bare := strings.ToLower("bare_" + db.Name)
	change(t, db, "CREATE DATABASE "+bare)
	t.Cleanup(func() { change(t, db, "DROP DATABASE "+bare+" WITH (FORCE)") })
	const secret = "s3cr3t-Pa55"
	stranger := "stranger_" + db.Name
	change(t, db, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", stranger, secret))
	t.Cleanup(func() { change(t, db, "DROP ROLE "+stranger) })
	for name, test := range map[string]struct {
		dsn  string
		want error
		says string
	}{
		"unreachable":       {fmt.Sprintf("postgres://u:%s@%s/x?sslmode=disable", secret, closed), ledger.ErrUnreachable, closed},
		"wrong password":    {c.DSN(ledgertest.Runtime, secret, db.Name), ledger.ErrAuth, ledgertest.Runtime + "@127.0.0.1"},
		"no such role":      {c.DSN("nobody", secret, db.Name), ledger.ErrAuth, "nobody@127.0.0.1"},
		"no such database":  {c.DSN(ledgertest.Runtime, c.Password, "absent"), ledger.ErrNoDatabase, "absent"},
		"not migrated":      {c.DSN(ledgertest.Runtime, c.Password, bare), ledger.ErrSchema, "loadctl migrate"},
		"no privilege":      {c.DSN(stranger, secret, db.Name), ledger.ErrPrivilege, stranger},
		"not to be parsed":  {"postgres://u:" + secret + "@host:port/x", ledger.ErrInvalid, "percent-encoded"},
		"strange parameter": {"postgres://u:" + secret + "@" + closed + "/x?sslmode=maybe", ledger.ErrInvalid, "percent-encoded"},
	} {
		_, err := ledger.Open(t.Context(), ledger.Config{DSN: test.dsn, By: "me"})
		if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, test.want, test.says)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), c.Password)) {
			t.Errorf("%s: the error tells the password: %v", name, err)
		}
	}
}

func TestOpenChecksVersions(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{})
	run := planned(t, l, "j", 1)
	if l.ID() == ledger.NewToken() || l.ID().String() != ask[string](t, db, "SELECT id::text FROM loadctl.load_ledger") {
		t.Fatalf("ledger id %s", l.ID())
	}
	change(t, db, "UPDATE loadctl.schema_version SET version = 9, min_binary = 9")
	if _, err := ledger.Open(t.Context(), ledger.Config{DSN: db.DSN, By: "me"}); !errors.Is(err, ledger.ErrOldBinary) {
		t.Errorf("old binary: %v, want ErrOldBinary", err)
	}
	if err := l.CheckVersion(t.Context()); !errors.Is(err, ledger.ErrOldBinary) {
		t.Errorf("check of an open ledger: %v, want ErrOldBinary", err)
	}
	if _, ok, err := l.ClaimPartition(t.Context(), ledger.ClaimRequest{Run: run.ID, Token: ledger.NewToken(), Lease: lease}); err != nil || ok {
		t.Errorf("claim by an old binary: %v, %v, want nothing to claim", ok, err)
	}
	if _, err := l.Sweep(t.Context(), sweeping()); !errors.Is(err, ledger.ErrOldBinary) {
		t.Errorf("sweep by an old binary: %v, want ErrOldBinary", err)
	}
	if _, err := ledger.Open(t.Context(), ledger.Config{DSN: db.DSN}); !errors.Is(err, ledger.ErrInvalid) {
		t.Errorf("nobody opens: %v, want ErrInvalid", err)
	}
}

func TestMigrateIsRepeatable(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{})
	submit(t, l, "j")
	errs := together(4, func(int) error {
		v, err := ledger.Migrate(t.Context(), db.Owner, ledger.MigrateOptions{RuntimeRole: ledgertest.Runtime})
		if err == nil && v != ledger.Version {
			return fmt.Errorf("version %d, want %d", v, ledger.Version)
		}
		return err
	})
	check(t, errors.Join(errs...))
	submit(t, l, "k")
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.transition"); n != len(ledger.Transitions) {
		t.Fatalf("%d transitions, want %d", n, len(ledger.Transitions))
	}
	if n := ask[int](t, db, "SELECT count(*)::int FROM loadctl.state"); n != len(ledger.States) {
		t.Fatalf("%d states, want %d", n, len(ledger.States))
	}
}

// Two binaries that disagree about the state machine must not share a ledger.
func TestMigrateRefusesAnotherStateMachine(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	change(t, db, "ALTER TABLE loadctl.transition DROP CONSTRAINT transition_to_state_fkey CASCADE")
	change(t, db, "UPDATE loadctl.transition SET to_state = 'SUCCESS' WHERE from_state = 'PUBLISHED' AND event = 'target_failed'")
	_, err := ledger.Migrate(t.Context(), db.Owner, ledger.MigrateOptions{RuntimeRole: ledgertest.Runtime})
	if !errors.Is(err, ledger.ErrConflict) || !strings.Contains(err.Error(), "target_failed") {
		t.Fatalf("migrate: %v, want ErrConflict that names the transition", err)
	}
}

func TestMigrateChecksItsRoles(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	for role, says := range map[string]string{"absent": "CREATE ROLE", ledgertest.Superuser: "superuser", ledgertest.Owner: "two roles"} {
		_, err := ledger.Migrate(t.Context(), db.Owner, ledger.MigrateOptions{RuntimeRole: role})
		if !errors.Is(err, ledger.ErrRole) || !strings.Contains(err.Error(), says) {
			t.Errorf("run-time role %s: %v, want ErrRole with %q", role, err, says)
		}
	}
	_, err := ledger.Migrate(t.Context(), db.DSN, ledger.MigrateOptions{RuntimeRole: ledgertest.Runtime})
	if !errors.Is(err, ledger.ErrRole) {
		t.Errorf("migrating as the run-time role: %v, want ErrRole", err)
	}
}

func TestTransactionsHaveTheirLimits(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	l := db.Open(t, ledger.Config{LockTimeout: 50 * time.Millisecond})
	run := submit(t, l, "j")
	conn, err := pgx.Connect(t.Context(), db.Admin)
	check(t, err)
	defer conn.Close(context.WithoutCancel(t.Context()))
	tx, err := conn.Begin(t.Context())
	check(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM loadctl.load_run FOR UPDATE")
	check(t, err)
	if _, err := l.Cancel(t.Context(), run.ID, "op", "x"); !errors.Is(err, ledger.ErrUnreachable) || !strings.Contains(err.Error(), "lock timeout") {
		t.Errorf("cancel of a locked run: %v, want lock timeout", err)
	}
	check(t, tx.Rollback(t.Context()))
	must(t)(l.Cancel(t.Context(), run.ID, "op", "x"))
}

// A ledger that only lets itself be read, for a minute, is a ledger that is away.
func TestReadOnlyLedgerIsUnreachable(t *testing.T) {
	t.Parallel()
	db := openDB(t)
	change(t, db, "ALTER DATABASE "+db.Name+" SET default_transaction_read_only = on")
	l := db.Open(t, ledger.Config{})
	if _, err := l.Submit(t.Context(), request(t, "j")); !errors.Is(err, ledger.ErrUnreachable) || errors.Is(err, ledger.ErrCommitUnknown) {
		t.Fatalf("submit: %v, want ErrUnreachable and nothing unknown", err)
	}
	if _, err := l.Sweep(t.Context(), sweeping()); !errors.Is(err, ledger.ErrUnreachable) {
		t.Fatalf("sweep: %v, want ErrUnreachable", err)
	}
}
