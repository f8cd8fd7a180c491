package scenario

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/loadctl/loadctl/integration/orasim"
	"github.com/loadctl/loadctl/integration/orasim/sql"
	"github.com/loadctl/loadctl/integration/rig"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// The job and the date that the scenario is about.
const (
	Job  = "INSP_DTL"
	Date = "2026-09-28"
	Rows = 105000
	Sum  = "71853075.00" // of AMOUNT
)

// Options choose a world.
type Options struct {
	Dir      string              // holds configuration, secrets, and for the embedded parts the data; made if missing
	Stack    *rig.Stack          // real HDFS and Hive; nil: the embedded store and warehouse under Dir
	Postgres *ledgertest.Cluster // nil: a private cluster under Dir, stopped by Close
	Name     string              // of databases and folders in what is shared; "" makes one up
	Few      bool                // a table of 1,200 rows instead of the scenario's, where its content does not matter
	Log      *slog.Logger        // of the stand-in; nil: silence
}

// World is a running world.
type World struct {
	Options
	Oracle *orasim.Server
	Ledger ledgertest.Database
	Config string // the daemon file

	cluster *ledgertest.Cluster // ours to stop, or nil
}

// Start makes a world and returns when everything in it can be used. The ledger's database is there and empty: loadctl
// migrate comes first. Close ends it.
func Start(ctx context.Context, o Options) (w *World, err error) {
	if o.Name == "" {
		o.Name = "w" + strings.ToLower(rand.Text()[:10])
	}
	w = &World{Options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.Close())
		}
	}()
	for _, dir := range []string{w.Dir, w.path("jobs"), w.path("secret")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return w, err
		}
	}
	if err := w.startOracle(); err != nil {
		return w, err
	}
	if err := w.startLedger(ctx); err != nil {
		return w, err
	}
	if w.Stack != nil {
		if err := w.prepareHive(ctx); err != nil {
			return w, err
		}
	}
	return w, w.writeConfig()
}

// Close stops what Start started, and removes what it left in a shared stack.
func (w *World) Close() error {
	var errs []error
	if w.Stack != nil {
		errs = append(errs, w.dropHive(context.Background()))
	}
	if w.Oracle != nil {
		errs = append(errs, w.Oracle.Close())
	}
	if w.cluster != nil {
		errs = append(errs, w.cluster.Stop())
	}
	return errors.Join(errs...)
}

func (w *World) path(names ...string) string {
	return filepath.Join(append([]string{w.Dir}, names...)...)
}

// Service is the stand-in's service name.
const Service = "CORE"

// Users of the stand-in: the application that owns the table and writes to it, and the reader that loadctl logs in as.
const (
	Owner  = "APP"
	Reader = "LOADCTL"
)

// startOracle starts the stand-in and runs the seed script.
func (w *World) startOracle() error {
	password := rand.Text()
	if err := w.secret("oracle", password); err != nil {
		return err
	}
	root, err := rig.Root()
	if err != nil {
		return err
	}
	table, err := os.ReadFile(filepath.Join(root, "testdata", "insp_dtl.sql"))
	if err != nil {
		return err
	}
	seed := string(table)
	if w.Few {
		seed = strings.Replace(seed, "LEVEL <= 120000", "LEVEL <= 1200", 1)
	}
	users := fmt.Sprintf("CREATE USER %[1]s IDENTIFIED BY \"%[2]s\"; CREATE USER %[3]s IDENTIFIED BY \"%[4]s\";\n"+
		"GRANT CREATE SESSION, CREATE TABLE, UNLIMITED TABLESPACE TO %[1]s; GRANT CREATE SESSION, SELECT ANY DICTIONARY TO %[3]s;\n", Owner, rand.Text(), Reader, password)
	if w.Oracle, err = orasim.Start(orasim.Config{Database: sql.Config{Services: []string{Service}}, Seed: users + seed, Log: w.Log}); err != nil {
		return err
	}
	return nil
}

// startLedger makes a database with the two roles and nothing in it.
func (w *World) startLedger(ctx context.Context) (err error) {
	c := w.Postgres
	if c == nil {
		if w.cluster, err = ledgertest.StartCluster(w.path("postgres"), ledgertest.ClusterOptions{}); err != nil {
			return fmt.Errorf("start PostgreSQL: %w", err)
		}
		c = w.cluster
	}
	if w.Ledger, err = ledgertest.MakeDatabase(ctx, c, w.Name); err != nil {
		return err
	}
	return w.secret("ledger", c.Password)
}

// secret writes a password where the configuration refers to it.
func (w *World) secret(name, value string) error {
	return os.WriteFile(w.path("secret", name), []byte(value+"\n"), 0o600)
}

// Connect opens a superuser's connection to the ledger's database.
func (w *World) Connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, w.Ledger.Admin)
}

// oracleAddress is where the stand-in listens.
func (w *World) oracleAddress() (host string, port int) {
	host, text, _ := net.SplitHostPort(w.Oracle.Addr()) // printed by a net.Addr
	port, _ = strconv.Atoi(text)
	return host, port
}
