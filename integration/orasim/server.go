// Package orasim is a stand-in for an Oracle server: it speaks Oracle's own wire protocol over TCP, so that
// drivers connect to it unchanged, on top of an in-memory database with SCNs, flashback queries and a
// dictionary. It is for tests, benchmarks and the demo; the product never imports it.
//
// Start makes a server. Its parts are separate packages: wire (TNS and TTC), sql (parser and executor), store
// (versions of rows by SCN), and ora, the vocabulary between them. What a test may break is in faults.go.
package orasim

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"github.com/loadctl/loadctl/integration/orasim/sql"
	"github.com/loadctl/loadctl/integration/orasim/wire"
)

// Config describes a server; every field may be left zero.
type Config struct {
	Listen   string      // 127.0.0.1:0, a free port on the loopback
	Database sql.Config  // name, services, users' limits, clock, undo
	Wire     wire.Config // what the protocol is like; Backend, Instance and Log are set from here

	// User is created at the start with the role DBA and this Password; empty: only SYS and SYSTEM exist.
	User, Password string
	Seed           string // a script that SYS runs before the first connection is accepted
	Log            *slog.Logger
}

// Server is a running stand-in.
type Server struct {
	wire    *wire.Server
	db      *sql.Database
	service string
}

// Start makes the database, runs the seed script and begins to listen.
func Start(cfg Config) (*Server, error) {
	db := sql.New(cfg.Database)
	s := &Server{db: db, service: serviceName(cfg.Database)}
	if err := s.seed(cfg); err != nil {
		return nil, fmt.Errorf("start orasim: %w", err)
	}
	w := cfg.Wire
	w.Backend, w.Log = db, cfg.Log
	w.Instance = cmp.Or(cfg.Database.Name, w.Instance)
	var err error
	if s.wire, err = wire.Listen(cmp.Or(cfg.Listen, "127.0.0.1:0"), w); err != nil {
		return nil, err
	}
	return s, nil
}

func serviceName(cfg sql.Config) string {
	if len(cfg.Services) > 0 {
		return cfg.Services[0]
	}
	return cmp.Or(cfg.Container, "ORASIMPDB1")
}

func (s *Server) seed(cfg Config) error {
	if cfg.User != "" {
		create := fmt.Sprintf("CREATE USER %s IDENTIFIED BY \"%s\"; GRANT DBA TO %s;", cfg.User, cfg.Password, cfg.User)
		if strings.ContainsAny(cfg.User+cfg.Password, "\"\n") || strings.ContainsAny(cfg.User, " ;'") {
			return fmt.Errorf("create user %q: the name or the password has a character that Oracle cannot take", cfg.User)
		}
		if err := s.Run("SYS", create); err != nil {
			return fmt.Errorf("create user %q: %w", cfg.User, err)
		}
	}
	if err := s.Run("SYS", cfg.Seed); err != nil {
		return fmt.Errorf("seed: %w", err)
	}
	return nil
}

// Addr is the host and port that the server listens on.
func (s *Server) Addr() string { return s.wire.Addr().String() }

// Faults is what tests may break; see Fault.
func (s *Server) Faults() *wire.Faults { return s.wire.Faults() }

// Close stops the server, cuts its connections, and waits until nothing of it runs any more.
func (s *Server) Close() error { return s.wire.Close() }

// Service is the service name to connect to, the first where there are several.
func (s *Server) Service() string { return s.service }

// URL is a go-ora connection URL. An empty password is left out, for printing.
func (s *Server) URL(user, password string) string {
	u := url.URL{Scheme: "oracle", User: url.User(user), Host: s.Addr(), Path: "/" + s.service}
	if password != "" {
		u.User = url.UserPassword(user, password)
	}
	return u.String()
}

// Database is the engine behind the wire: sessions to kill, the store with its journal.
func (s *Server) Database() *sql.Database { return s.db }
