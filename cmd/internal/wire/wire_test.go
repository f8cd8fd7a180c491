package wire

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/pipeline"
)

const ledgerAndSource = `ledger:
  host: db.example.com
  port: 6432
  password: ${env:WIRE_TEST_PASSWORD}
  sslmode: disable
  connect_timeout: 1500ms
sources:
  core:
    host: oracle.example.com
    service: core
    user: '"App_Ro"'
    password: ${env:WIRE_TEST_PASSWORD}
    max_sessions: 3
    session_init: [ALTER SESSION DISABLE PARALLEL QUERY]
limits:
  workers: 2
  memory: 64MiB
`

const job = `job: J
source:
  name: core
  table: app.t
  columns: [A, B]
  where: D = :date
session_init: [ALTER SESSION SET OPTIMIZER_MODE = ALL_ROWS]
split: {strategy: range, column: A, partitions: 3}
target:
  table: lake.t
  partition: {d: "{date}"}
  create: never
metrics: [A]
types: {B: string}
allow_empty: true
extract: {workers: 2, query_timeout: 1h, stall_timeout: 2m, max_attempts: 5}
`

// load reads a daemon file with the given store and warehouse, and one job.
func load(t *testing.T, parts string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"loadd.yaml": ledgerAndSource + parts, "jobs/j.yaml": job} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := config.Load(filepath.Join(dir, "loadd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func embedded(t *testing.T) string {
	return "store: {local: {root: " + t.TempDir() + "/s, mode: 0644}}\nwarehouse: {files: {root: " + t.TempDir() + "/w}}\n"
}

const hadoop = `store:
  hdfs: {namenodes: ["nn.example.com:8020"], user: u, root: "hdfs://nn.example.com:8020/data"}
warehouse:
  hive: {host: hs2.example.com, user: u, staging_database: stg}
`

// TestEnvConnectsToNothing: none of these hosts exists.
func TestEnvConnectsToNothing(t *testing.T) {
	t.Setenv("WIRE_TEST_PASSWORD", "pw")
	for name, parts := range map[string]string{"embedded": embedded(t), "hadoop": hadoop} {
		cfg := load(t, parts)
		env, closeEnv, err := Env(t.Context(), cfg, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(env.Sources) != 1 || env.Store == nil || env.Warehouse == nil || env.Format == nil {
			t.Errorf("%s: environment lacks a part: %+v", name, env)
		}
		if env.Limits.MaxSessions["core"] != 3 || env.Limits.Workers != 2 || env.Limits.BatchBytes > 2<<20 {
			t.Errorf("%s: limits are %+v", name, env.Limits)
		}
		if env.Timing != (pipeline.Timing{Heartbeat: 15 * time.Second, Stale: time.Minute, StepRenew: 15 * time.Second,
			StepLease: time.Minute, Poll: 2 * time.Second, Grace: 30 * time.Second}) {
			t.Errorf("%s: timing is %+v", name, env.Timing)
		}
		if got := env.Store.URI("x"); !strings.HasSuffix(got, "/x") {
			t.Errorf("%s: store's URI is %s", name, got)
		}
		if err := closeEnv(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
	}
}

func TestEnvTellsEveryFault(t *testing.T) {
	t.Setenv("WIRE_TEST_PASSWORD", "pw")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := load(t, "store: {local: {root: "+file+"/s}}\nwarehouse: {files: {root: "+file+"/w}}\n")
	_, closeEnv, err := Env(t.Context(), cfg, nil, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "store") || !strings.Contains(err.Error(), "warehouse") {
		t.Errorf("got %v, want store and warehouse", err)
	}
	if err := closeEnv(); err != nil {
		t.Error(err)
	}
}

func TestJobCarriesEverything(t *testing.T) {
	cfg := load(t, hadoop)
	day, err := config.ParseDate("2026-09-28", time.Time{}, time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cfg.Resolve("J", day)
	if err != nil {
		t.Fatal(err)
	}
	j := Job(r, cfg)
	if j.Name != "J" || j.Key != "2026-09-28" || j.Source != "core" || j.Version != pipeline.JobVersion {
		t.Errorf("names: %+v", j)
	}
	if s := j.Selection; s.Table.Schema != "APP" || s.Table.Name != "T" || strings.Join(s.Columns, ",") != "A,B" || s.Types["B"] != "string" {
		t.Errorf("selection: %+v", s)
	}
	if !strings.Contains(j.Where, "2026-09-28") || j.Split != (pipeline.Split{Strategy: "range", Column: "A", Partitions: 3}) {
		t.Errorf("where %q, split %+v", j.Where, j.Split)
	}
	if j.Target.Database != "lake" || j.Target.Table != "t" || len(j.Target.Partition) != 1 || j.Target.Partition[0].Value != "2026-09-28" || j.Create {
		t.Errorf("target: %+v, create %v", j.Target, j.Create)
	}
	if j.Metrics != "list" || strings.Join(j.MetricCols, ",") != "A" || !j.AllowEmpty || j.StagingDB != "stg" || j.TargetID != r.TargetID {
		t.Errorf("metrics %s %v, empty %v, staging %s", j.Metrics, j.MetricCols, j.AllowEmpty, j.StagingDB)
	}
	if j.Workers != 2 || j.MaxAttempts != 5 || time.Duration(j.QueryTimeout) != time.Hour || time.Duration(j.StallTimeout) != 2*time.Minute {
		t.Errorf("workers %d, attempts %d, timeouts %v %v", j.Workers, j.MaxAttempts, j.QueryTimeout, j.StallTimeout)
	}
	if len(j.SessionInit) != 2 || j.ChunkRows == 0 || j.ChunkBytes == 0 || j.RunTimeout == 0 {
		t.Errorf("session init %q, chunks %d rows %d bytes, run %v", j.SessionInit, j.ChunkRows, j.ChunkBytes, j.RunTimeout)
	}
}

// TestDSNLeavesNothingToTheEnvironment, and quotes what a password may hold.
func TestDSNLeavesNothingToTheEnvironment(t *testing.T) {
	const password = `p'w\ =d`
	t.Setenv("WIRE_TEST_PASSWORD", password)
	for name, value := range map[string]string{
		"PGHOST": "wrong", "PGPORT": "1", "PGDATABASE": "wrong", "PGUSER": "wrong", "PGPASSWORD": "wrong", "PGSSLMODE": "require",
		"PGSSLCERT": "/wrong", "PGSSLKEY": "/wrong", "PGSSLROOTCERT": "/wrong", "PGAPPNAME": "wrong", "PGOPTIONS": "-c wrong=1",
		"PGTARGETSESSIONATTRS": "standby", "PGCONNECT_TIMEOUT": "99", "PGTZ": "Asia/Seoul", "PGPASSFILE": "/wrong",
	} {
		t.Setenv(name, value)
	}
	c := load(t, hadoop).Daemon.Ledger
	text, err := dsn(c, c.User, c.Password)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.ParseConfig(text)
	if err != nil {
		t.Fatal("the connection string cannot be parsed")
	}
	if got.Host != "db.example.com" || got.Port != 6432 || got.Database != "loadctl" || got.User != "loadctl" || got.Password != password {
		t.Errorf("server is %s@%s:%d/%s", got.User, got.Host, got.Port, got.Database)
	}
	if got.TLSConfig != nil || len(got.Fallbacks) > 0 || got.ConnectTimeout != 2*time.Second || got.ValidateConnect != nil {
		t.Errorf("TLS %v, fallbacks %d, timeout %s", got.TLSConfig != nil, len(got.Fallbacks), got.ConnectTimeout)
	}
	for name, want := range map[string]string{"application_name": "loadctl", "options": "", "timezone": "UTC"} {
		if got.RuntimeParams[name] != want {
			t.Errorf("%s is %q, want %q", name, got.RuntimeParams[name], want)
		}
	}
}

func TestDirModeFollowsFileMode(t *testing.T) {
	for file, want := range map[config.FileMode]os.FileMode{0o640: 0o750, 0o600: 0o700, 0o644: 0o755} {
		if got := dirMode(file); got != want {
			t.Errorf("directories of %v are %v, want %v", file, got, want)
		}
	}
}
