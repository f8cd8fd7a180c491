package ledger

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migration/*.sql
var migrationFiles embed.FS

// migrationLock is the key of the advisory lock that one migration holds: "loadctl" as a number.
const migrationLock = 0x6c6f616463746c

// MigrateOptions says how a schema is brought up to date.
type MigrateOptions struct {
	RuntimeRole string       // the role that daemon and command line log in as; it must exist
	Log         *slog.Logger // default: silent
}

// Migrate brings the schema loadctl of the database to this binary's version: migrations in order, the tables state and
// transition filled from the slices, the run-time role's privileges. It runs under a role that owns the schema, which
// is not the run-time role, and under an advisory lock; a repeat changes nothing. The version reached is returned.
func Migrate(ctx context.Context, dsn string, opts MigrateOptions) (int, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return 0, badDSN()
	}
	version, err := migrate(ctx, cfg, opts)
	if err != nil {
		return version, fmt.Errorf("migrate ledger: %w", classify(err, serverName(&cfg.Config)))
	}
	return version, nil
}

func migrate(ctx context.Context, cfg *pgx.ConnConfig, opts MigrateOptions) (int, error) {
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // ends the session, and with it the lock
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return 0, err
	}
	if err := checkRole(ctx, conn, opts.RuntimeRole); err != nil {
		return 0, err
	}
	if err := ensureSchema(ctx, conn); err != nil {
		return 0, err
	}
	version, err := up(ctx, cfg, cmp.Or(opts.Log, slog.New(slog.DiscardHandler)))
	if err != nil {
		return version, err
	}
	return version, pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if err := fillStates(ctx, tx); err != nil {
			return err
		}
		return grant(ctx, tx, opts.RuntimeRole)
	})
}

// ensureSchema makes the schema unless it is there: a role to which it was given needs no right to make one.
func ensureSchema(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT to_regnamespace('loadctl') IS NOT NULL").Scan(&there); err != nil || there {
		return err
	}
	_, err := conn.Exec(ctx, "CREATE SCHEMA loadctl")
	return err
}

// up applies the migrations that are missing. The caller holds the lock.
func up(ctx context.Context, cfg *pgx.ConnConfig, log *slog.Logger) (int, error) {
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	files, err := fs.Sub(migrationFiles, "migration")
	if err != nil {
		return 0, err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithTableName("loadctl.migration"), goose.WithDisableGlobalRegistry(true), goose.WithSlog(log))
	if err != nil {
		return 0, err
	}
	if _, err := provider.Up(ctx); err != nil {
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			return 0, fmt.Errorf("migration %d (%d applied before it): %w", partial.Failed.Source.Version, len(partial.Applied), partial.Err)
		}
		return 0, err
	}
	version, err := provider.GetDBVersion(ctx)
	return int(version), err
}

// checkRole refuses a run-time role that the walls could not hold: absent, a superuser, or the owner of the schema.
func checkRole(ctx context.Context, db querier, role string) error {
	type fitness struct{ Superuser, Owner bool }
	f, found, err := one[fitness](ctx, db, "role_get", args{"role": role})
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%w: role %q does not exist; make it: CREATE ROLE %s LOGIN PASSWORD '…'", ErrRole, role, pgx.Identifier{role}.Sanitize())
	case f.Superuser:
		return fmt.Errorf("%w: run-time role %q is a superuser, whom nothing could be refused", ErrRole, role)
	case f.Owner:
		return fmt.Errorf("%w: run-time role %q is the migrating role or a member of it; use two roles", ErrRole, role)
	}
	return nil
}

// fillStates adds the rows of states and transitions that are not there yet. A row that is there with other facts
// means that two binaries disagree about the state machine, and is refused.
func fillStates(ctx context.Context, db querier) error {
	for _, s := range States {
		n, err := exec(ctx, db, "state_fill", args{"name": s.Name, "active": s.Active, "gated": s.Gated, "doc": s.Doc})
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("fill state %s: the ledger holds it with other facts: %w", s.Name, ErrConflict)
		}
	}
	for _, t := range Transitions {
		n, err := exec(ctx, db, "transition_fill", args{"from": t.From, "event": t.Event, "to": t.To, "doc": t.Doc})
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("fill transition %s %s: the ledger holds it with another end: %w", t.From, t.Event, ErrConflict)
		}
	}
	return nil
}
