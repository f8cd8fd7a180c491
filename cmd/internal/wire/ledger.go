package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/ledger"
)

// Ledger opens the ledger as the run-time role.
func Ledger(ctx context.Context, cfg *config.Config, log *slog.Logger) (*ledger.Ledger, error) {
	c := cfg.Daemon.Ledger
	dsn, err := dsn(c, c.User, c.Password)
	if err != nil {
		return nil, err
	}
	return ledger.Open(ctx, ledger.Config{DSN: dsn, MaxConns: int32(c.MaxConnections), By: Who(), Poll: cfg.Daemon.Recovery.Poll, Log: log})
}

// Login is a role with its password, for Migrate.
type Login struct {
	User     string
	Password config.Secret
}

// Migration says who changes the ledger's schema. What is empty is the daemon file's.
type Migration struct {
	Owner   Login  // the role that owns the schema
	Runtime string // the role that runs loads and gets its privileges
}

// Migrated is what a migration found and left.
type Migrated struct {
	Owner, Runtime string // roles
	Current        bool   // the schema was at this program's version already
	Version        int    // of the schema now
}

// Migrate brings the ledger's schema to this program's version.
func Migrate(ctx context.Context, cfg *config.Config, m Migration, log *slog.Logger) (Migrated, error) {
	c := cfg.Daemon.Ledger
	if m.Owner.User == "" {
		m.Owner = Login{c.Migrate.User, c.Migrate.Password}
	}
	if m.Owner.User == "" {
		m.Owner = Login{c.User, c.Password}
	}
	if m.Runtime == "" {
		m.Runtime = c.User
	}
	out := Migrated{Owner: m.Owner.User, Runtime: m.Runtime}
	dsn, err := dsn(c, m.Owner.User, m.Owner.Password)
	if err != nil {
		return out, err
	}
	if out.Current, err = current(ctx, dsn); err != nil {
		return out, err
	}
	out.Version, err = ledger.Migrate(ctx, dsn, ledger.MigrateOptions{RuntimeRole: m.Runtime, Log: log})
	return out, err
}

// current says whether the schema fits this program already.
func current(ctx context.Context, dsn string) (bool, error) {
	l, err := ledger.Open(ctx, ledger.Config{DSN: dsn, MaxConns: 1, By: Who()})
	if errors.Is(err, ledger.ErrSchema) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.Close()
	return true, nil
}

// dsn writes a connection string in which every setting is explicit: pgx would take what is absent from PG* variables,
// from ~/.pgpass and from the home directory's certificates.
func dsn(c config.Ledger, user string, secret config.Secret) (string, error) {
	password, err := secret.Reveal()
	if err != nil {
		return "", fmt.Errorf("log in to the ledger as %s: %w", user, err)
	}
	if strings.ContainsRune(password, 0) {
		return "", errors.New("log in to the ledger: the password contains a NUL byte")
	}
	var b strings.Builder
	for _, s := range [][2]string{
		{"host", c.Host}, {"port", fmt.Sprint(c.Port)}, {"dbname", c.Database}, {"user", user}, {"password", password},
		{"passfile", ""}, {"sslmode", string(c.SSLMode)}, {"sslrootcert", c.SSLRootCert}, {"sslcert", ""}, {"sslkey", ""},
		{"connect_timeout", fmt.Sprint(int(math.Ceil(c.ConnectTimeout.Seconds())))}, {"application_name", "loadctl"},
		{"target_session_attrs", "any"}, {"options", ""}, {"timezone", "UTC"},
	} {
		fmt.Fprintf(&b, "%s='%s' ", s[0], quoted.Replace(s[1]))
	}
	return b.String(), nil
}

// quoted escapes a value of a keyword/value string.
var quoted = strings.NewReplacer(`\`, `\\`, `'`, `\'`)
