package ledger

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Version is the schema version that this binary is written for.
const Version = 1

// Config says how to reach the ledger. Only DSN is required.
type Config struct {
	DSN              string        // a PostgreSQL URL or keyword string, of the run-time role
	MaxConns         int32         // connections of this process at most; default 8
	By               string        // who writes, for history and events: user@host; required
	LockTimeout      time.Duration // default 10 s
	StatementTimeout time.Duration // default 30 s
	IdleTimeout      time.Duration // a transaction that does nothing for so long is ended; default 30 s
	DispatchAttempts int           // how often a dispatch is owned before it is DEAD; default 10
	Poll             time.Duration // how often waiting looks without being notified; default 1 s
	Log              *slog.Logger  // default: silent
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	c.MaxConns = cmp.Or(c.MaxConns, 8)
	c.LockTimeout = cmp.Or(c.LockTimeout, 10*time.Second)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 30*time.Second)
	c.DispatchAttempts = cmp.Or(c.DispatchAttempts, 10)
	c.Poll = cmp.Or(c.Poll, time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Ledger decides. It is safe for concurrent use. Every method is one decision or one read; a decision is committed
// when the method returns nil, and may be repeated when it returns ErrCommitUnknown.
type Ledger struct {
	cfg    Config
	pool   *pgxpool.Pool
	begin  string
	server string
	id     uuid.UUID
}

// Open connects, and checks that schema and binary fit each other. The error says what to do: errors.Is with
// ErrUnreachable, ErrAuth, ErrNoDatabase, ErrSchema, ErrOldBinary or ErrPrivilege.
func Open(ctx context.Context, cfg Config) (*Ledger, error) {
	cfg = cfg.withDefaults()
	if cfg.By == "" {
		return nil, invalid("open ledger: By is empty")
	}
	pc, err := pgxpool.ParseConfig(cfg.DSN)
	if err != nil {
		return nil, badDSN()
	}
	pc.MaxConns = cfg.MaxConns
	pc.ConnConfig.ConnectTimeout = cmp.Or(pc.ConnConfig.ConnectTimeout, 10*time.Second)
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, classify(err, serverName(&pc.ConnConfig.Config))
	}
	l := &Ledger{cfg: cfg, pool: pool, begin: beginStatement(cfg), server: serverName(&pc.ConnConfig.Config)}
	if l.id, err = l.fits(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return l, nil
}

// badDSN hides the driver's error, which repeats parts of the string.
func badDSN() error {
	return invalid("open ledger: the connection string cannot be parsed; " +
		"want postgres://user:password@host:port/database, special characters in the password percent-encoded")
}

// Close waits for connections in use and closes all.
func (l *Ledger) Close() { l.pool.Close() }

// ID names this ledger in marks and files outside of it. It is made by the first migration and never changes.
func (l *Ledger) ID() uuid.UUID { return l.id }

// CheckVersion says whether this binary and the schema fit. A daemon asks from time to time: a migration may have
// shut it out, and it must then claim no more.
func (l *Ledger) CheckVersion(ctx context.Context) error {
	_, err := l.fits(ctx)
	return err
}

// fits returns the ledger's id if schema and binary fit each other.
func (l *Ledger) fits(ctx context.Context) (uuid.UUID, error) {
	type version struct {
		Version   int
		MinBinary int
		ID        uuid.UUID
	}
	v, found, err := one[version](ctx, l.pool, "version_get", nil)
	switch {
	case err != nil:
		return uuid.Nil, fmt.Errorf("check ledger version: %w", l.connectError(err))
	case !found || v.Version < Version:
		return uuid.Nil, fmt.Errorf("check ledger version: schema is at %d, this binary needs %d: %w", v.Version, Version, ErrSchema)
	case v.MinBinary > Version:
		return uuid.Nil, fmt.Errorf("check ledger version: schema needs a binary of %d, this one is %d: %w", v.MinBinary, Version, ErrOldBinary)
	}
	return v.ID, nil
}

// Now is the database's time, the only one that decides.
func (l *Ledger) Now(ctx context.Context) (time.Time, error) {
	type clock struct{ Now time.Time }
	c, _, err := one[clock](ctx, l.pool, "now", nil)
	return c.Now, l.connectError(err)
}
