package scenario

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/files"
	"github.com/loadctl/loadctl/publish/hive"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/hdfs"
	"github.com/loadctl/loadctl/stage/local"
	"github.com/loadctl/loadctl/stage/parquet"
)

// Env builds the pipeline's environment on this world, for tests that put something between the pipeline and a port; the
// programs build theirs from the configuration files. The ledger must have been migrated. closeAll ends every connection.
func (w *World) Env(ctx context.Context) (env *pipeline.Env, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	env = &pipeline.Env{Format: w.format(), Log: w.log(), Host: "test@here/" + strconv.Itoa(os.Getpid()),
		Limits: pipeline.Limits{Workers: 3, BatchRows: 2048, BatchBytes: 1 << 20, MaxSessions: map[string]int{"core": 6}},
		Timing: pipeline.Timing{
			Heartbeat: 500 * time.Millisecond, Stale: 10 * time.Second, StepRenew: 500 * time.Millisecond, StepLease: 10 * time.Second,
			Poll: 200 * time.Millisecond, Grace: 5 * time.Second,
		}}
	if env.Ledger, err = ledger.Open(ctx, ledger.Config{DSN: w.Ledger.DSN, By: "test@here", MaxConns: 16}); err != nil {
		return nil, closeAll, err
	}
	closers = append(closers, func() error { env.Ledger.Close(); return nil })
	source, err := w.source()
	if err != nil {
		return nil, closeAll, err
	}
	closers = append(closers, source.Close)
	env.Sources = map[string]extract.Source{"core": source}
	if env.Store, env.Warehouse, err = w.storeAndWarehouse(&closers); err != nil {
		return nil, closeAll, err
	}
	return env, closeAll, nil
}

// source is the adapter on the stand-in.
func (w *World) source() (extract.Source, error) {
	host, port := w.oracleAddress()
	return oracle.New(oracle.Config{Host: host, Port: port, Service: Service, User: Reader, MaxSessions: 6, Log: w.Log,
		Password: func() (string, error) {
			p, err := os.ReadFile(w.path("secret", "oracle"))
			return strings.TrimSpace(string(p)), err
		}})
}

// format is that of the programs: without Hive, timestamps are in the calendar of everyone else.
func (w *World) format() parquet.Format {
	if w.Stack == nil {
		return parquet.Format{Options: parquet.Options{Calendar: parquet.ProlepticCalendar}}
	}
	return parquet.Format{}
}

func (w *World) storeAndWarehouse(closers *[]func() error) (stage.Store, publish.Warehouse, error) {
	if w.Stack == nil {
		s, err := local.New(local.Options{Root: w.path("store")})
		if err != nil {
			return nil, nil, err
		}
		t, err := files.New(files.Config{Root: w.path("warehouse"), Format: w.format()})
		return s, t, err
	}
	at := func(root string) (*hdfs.Store, error) {
		s, err := hdfs.New(hdfs.Options{NameNodes: []string{w.Stack.HDFS.NameNode}, Root: root, User: w.Stack.HDFS.User})
		if err == nil {
			*closers = append(*closers, s.Close)
		}
		return s, err
	}
	s, err := at("/stage/" + w.Name)
	if err != nil {
		return nil, nil, err
	}
	whole, err := at("/")
	if err != nil {
		return nil, nil, err
	}
	h := w.Stack.Hive
	t, err := hive.New(hive.Config{Lister: whole, Log: w.Log, HS2: hs2.Config{
		Address: net.JoinHostPort(h.Host, strconv.Itoa(h.Port)), Auth: hs2.Auth(h.Auth), User: h.User, Password: h.Password,
	}})
	if err == nil {
		*closers = append(*closers, t.Close)
	}
	return s, t, err
}

// Job is the scenario's job as a run carries it.
func (w *World) Job() *pipeline.Job {
	database, table, _ := strings.Cut(w.Target(), ".")
	j := &pipeline.Job{
		Version: pipeline.JobVersion, Name: Job, Key: Date, Source: "core",
		Selection: extract.Selection{Table: extract.TableName{Schema: Owner, Name: "INSP_DTL"}},
		Where:     "INSP_DT >= DATE '" + Date + "' AND INSP_DT < DATE '" + Date + "' + 1",
		Split:     pipeline.Split{Strategy: pipeline.StrategyRange, Column: "SEQ", Partitions: 8}, Metrics: "default",
		Target:   publish.Target{Database: database, Table: table, Partition: []publish.PartitionValue{{Column: "load_date", Value: Date}}},
		TargetID: "test:" + w.Target() + "/load_date=" + Date, Create: true,
		ChunkRows: 10000, ChunkBytes: 8 << 20, Workers: 3, MaxAttempts: 3, RunTimeout: pipeline.Duration(time.Hour),
	}
	if w.Stack != nil {
		j.StagingDB = w.Name
	}
	return j
}

func (w *World) log() *slog.Logger {
	if w.Log != nil {
		return w.Log
	}
	return slog.New(slog.DiscardHandler)
}
