package rig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// A PostgresServer is a private cluster. Its user is the superuser.
type PostgresServer struct {
	Host         string
	Port         int
	User         string
	Password     string
	PasswordFile string
}

// DSN is the URL of a database in the cluster, as the superuser.
func (p PostgresServer) DSN(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(p.User, p.Password), Host: local(p.Port), Path: database}
	return u.String() + "?sslmode=disable"
}

func (s *Stack) postgresDaemon() daemon {
	return daemon{
		name: postgres, part: Postgres, stop: syscall.SIGINT,
		start: s.startPostgres, probe: s.probePostgres, limit: 3 * time.Second, after: s.makeLedger,
	}
}

// startPostgres starts the cluster in a temporary folder: the server cannot run as root, and the account that it runs
// as instead may not reach the stack's own folder.
func (s *Stack) startPostgres(context.Context) (process, error) {
	if s.state.Postgres == "" {
		dir, err := os.MkdirTemp("", "loadctl-postgres-")
		if err != nil {
			return process{}, fmt.Errorf("make folder of cluster: %w", err)
		}
		if err := s.change(func(st *state) { st.Postgres = dir }); err != nil {
			return process{}, err
		}
	}
	// The server is dead, or this would not be asked for. But a killed one may be a zombie for a while, and then neither
	// PostgreSQL nor ledgertest would believe it.
	if err := os.Remove(filepath.Join(s.state.Postgres, "data", "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return process{}, fmt.Errorf("remove lock of dead server: %w", err)
	}
	c, err := ledgertest.StartCluster(s.state.Postgres, ledgertest.ClusterOptions{Port: s.state.Ports.Postgres, Outlive: true})
	if err != nil {
		return process{}, err
	}
	if err := s.change(func(st *state) { st.PostgresPassword = c.Password }); err != nil {
		return process{}, err
	}
	return processOf(c.PID())
}

func (s *Stack) probePostgres(ctx context.Context) error {
	conn, err := s.connect(ctx, ledgertest.Superuser, "postgres")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var one int
	return conn.QueryRow(ctx, "select 1").Scan(&one)
}

// makeLedger makes the database loadctl, empty, with its two roles, as an administrator would before `loadctl migrate`.
func (s *Stack) makeLedger(ctx context.Context) error {
	conn, err := s.connect(ctx, ledgertest.Superuser, "postgres")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var there bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = 'loadctl')").Scan(&there); err != nil || there {
		return err
	}
	for _, sql := range []string{
		"drop role if exists loadctl",
		"drop role if exists loadctl_owner",
		"create role loadctl login password '" + s.state.PostgresPassword + "'", // letters and digits only
		"create role loadctl_owner login password '" + s.state.PostgresPassword + "'",
		"create database loadctl owner loadctl_owner",
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// connect opens a connection to the stack's own cluster; its users share one password. Errors of pgx never hold it.
func (s *Stack) connect(ctx context.Context, user, database string) (*pgx.Conn, error) {
	p := PostgresServer{Port: s.state.Ports.Postgres, User: user, Password: s.state.PostgresPassword}
	return pgx.Connect(ctx, p.DSN(database))
}
