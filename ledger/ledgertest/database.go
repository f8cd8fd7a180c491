package ledgertest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/ledger"
)

// Roles of a ledger made by [MakeLedger].
const (
	Owner   = "loadctl_owner"
	Runtime = "loadctl_run"
)

// Database is a ledger in a database of its own.
type Database struct {
	Cluster *Cluster
	Name    string
	DSN     string // of the run-time role
	Owner   string // connection string of the role that migrates
	Admin   string // connection string of the superuser
}

// MakeLedger makes the two roles if need be, a database, and migrates it. What it makes is kept in the cluster, so a
// second call with the same name only migrates.
func MakeLedger(ctx context.Context, c *Cluster, name string) (Database, error) {
	db, err := MakeDatabase(ctx, c, name)
	if err != nil {
		return db, err
	}
	_, err = ledger.Migrate(ctx, db.Owner, ledger.MigrateOptions{RuntimeRole: Runtime})
	return db, err
}

// MakeDatabase is MakeLedger without the migration: what a person has before the first loadctl migrate.
func MakeDatabase(ctx context.Context, c *Cluster, name string) (Database, error) {
	db := Database{Cluster: c, Name: name, DSN: c.DSN(Runtime, c.Password, name), Owner: c.DSN(Owner, c.Password, name), Admin: c.AdminDSN(name)}
	conn, err := pgx.Connect(ctx, c.AdminDSN("postgres"))
	if err != nil {
		return db, fmt.Errorf("make ledger %s: %w", name, err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, role := range []string{Owner, Runtime} {
		if err := ensure(ctx, conn, "SELECT count(*) FROM pg_roles WHERE rolname = $1", role,
			fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD '%s'", role, c.Password)); err != nil {
			return db, err
		}
	}
	if err := ensure(ctx, conn, "SELECT count(*) FROM pg_database WHERE datname = $1", name,
		fmt.Sprintf("CREATE DATABASE %s OWNER %s", pgx.Identifier{name}.Sanitize(), Owner)); err != nil {
		return db, err
	}
	return db, nil
}

// ensure runs a statement unless the query counts something already.
func ensure(ctx context.Context, conn *pgx.Conn, count, name, statement string) error {
	var n int
	if err := conn.QueryRow(ctx, count, name).Scan(&n); err != nil || n > 0 {
		return err
	}
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	return nil
}

// template is the migrated database that each test's own is copied from.
const template = "ledger_template"

// shared is the cluster of this test binary. It is stopped, and its directory removed, when the process ends.
var shared = sync.OnceValues(func() (*Cluster, error) {
	dir, err := os.MkdirTemp("", "loadctl-pg-")
	if err != nil {
		return nil, err
	}
	c, err := StartCluster(dir, ClusterOptions{RemoveDir: true, Settings: map[string]string{"autovacuum": "off"}})
	if err != nil {
		return nil, err
	}
	_, err = MakeLedger(context.Background(), c, template)
	return c, err
})

// New gives the test a migrated, empty ledger in a database of its own.
func New(t testing.TB) Database {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatalf("start the tests' PostgreSQL: %v", err)
	}
	name := "t_" + strings.ToLower(rand.Text()[:12])
	ctx := t.Context()
	admin(ctx, t, c, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s OWNER %s", name, template, Owner))
	t.Cleanup(func() {
		admin(context.WithoutCancel(ctx), t, c, fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name))
	})
	return Database{Cluster: c, Name: name, DSN: c.DSN(Runtime, c.Password, name), Owner: c.DSN(Owner, c.Password, name), Admin: c.AdminDSN(name)}
}

// Open opens the ledger of a test's database, and closes it at the end of the test.
func (d Database) Open(t testing.TB, cfg ledger.Config) *ledger.Ledger {
	t.Helper()
	cfg.DSN = d.DSN
	if cfg.By == "" {
		cfg.By = "test@here"
	}
	l, err := ledger.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func admin(ctx context.Context, t testing.TB, c *Cluster, sql string) {
	t.Helper()
	conn, err := pgx.Connect(ctx, c.AdminDSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}
