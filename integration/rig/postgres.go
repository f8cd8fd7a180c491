package rig

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
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
		prepare: s.initdb,
		command: s.postgresCommand,
		probe:   s.probePostgres,
	}
}

// initdb makes the cluster in a temporary folder: the server cannot run as root, and the account it runs as instead
// may not reach the stack's own folder.
func (s *Stack) initdb(ctx context.Context) error {
	if s.state.Postgres != "" {
		return nil
	}
	user, err := unprivileged()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "loadctl-postgres-")
	if err != nil {
		return fmt.Errorf("make folder of cluster: %w", err)
	}
	s.mu.Lock()
	s.state.Postgres = dir
	err = s.state.write(s.Dir)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	password := filepath.Join(dir, "password")
	if err := os.WriteFile(password, []byte(s.state.Secret), 0o600); err != nil {
		return fmt.Errorf("write password: %w", err)
	}
	defer os.Remove(password)
	if user != nil {
		for _, p := range []string{dir, password} {
			if err := os.Chown(p, int(user.uid), int(user.gid)); err != nil {
				return fmt.Errorf("hand over folder of cluster: %w", err)
			}
		}
	}
	return run(ctx, command{
		path: s.tools.initdb,
		args: []string{"-D", filepath.Join(dir, "data"), "-U", "postgres", "-A", "scram-sha-256", "--pwfile=" + password,
			"-E", "UTF8", "--locale=C", "--no-sync"},
		env: daemonEnv(), dir: dir, user: user,
	}, s.Log("initdb"))
}

// postgresCommand runs the server without the sync to disk: its data need not survive the machine.
func (s *Stack) postgresCommand(context.Context) (command, error) {
	user, err := unprivileged()
	if err != nil {
		return command{}, err
	}
	return command{
		path: s.tools.postgres,
		args: []string{"-D", filepath.Join(s.state.Postgres, "data"), "-p", strconv.Itoa(s.state.Ports.Postgres),
			"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off",
			"-c", "shared_buffers=64MB", "-c", "max_connections=200"},
		env: daemonEnv(), dir: s.state.Postgres, user: user,
	}, nil
}

func (s *Stack) probePostgres(ctx context.Context) error {
	conn, err := s.connect(ctx, "postgres", "postgres")
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var one int
	return conn.QueryRow(ctx, "select 1").Scan(&one)
}

// connect opens a connection to the stack's own cluster. Errors of pgx never hold the password.
func (s *Stack) connect(ctx context.Context, user, database string) (*pgx.Conn, error) {
	p := PostgresServer{Port: s.state.Ports.Postgres, User: user, Password: s.state.Secret}
	return pgx.Connect(ctx, p.DSN(database))
}

// daemonEnv is the environment of every daemon. HOME is for programs that insist on one.
func daemonEnv(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "LANG=C.UTF-8", "TZ=UTC"}, more...)
}
