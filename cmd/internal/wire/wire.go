// Package wire builds what the pipeline works with from the configuration. It is the only package that names Oracle,
// HDFS and Hive together: a new source, store or warehouse is a case here and nothing else moves.
//
// Nothing here connects, except to the ledger. An adapter connects when it is first asked something, so that a
// dependency that is down costs only those who need it.
package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strconv"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/extract/oracle"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/files"
	"github.com/loadctl/loadctl/publish/hive"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
	"github.com/loadctl/loadctl/stage/parquet"
)

// Env builds the pipeline's environment on an open ledger, which stays its caller's. closeAll ends every connection
// but the ledger's; it is never nil.
func Env(_ context.Context, cfg *config.Config, l *ledger.Ledger, log *slog.Logger) (env *pipeline.Env, closeAll func() error, err error) {
	boundMemory(cfg.Daemon.Limits)
	var b builder
	format := fileFormat(cfg.Daemon)
	env = &pipeline.Env{
		Ledger: l, Log: log, Host: Who() + "/" + strconv.Itoa(os.Getpid()), Format: format,
		Sources: b.sources(cfg.Daemon.Sources, log), Store: b.store(cfg.Daemon.Store),
		Timing: timing(cfg.Daemon.Recovery), Recovery: recovery(cfg.Daemon), Limits: limits(cfg.Daemon),
	}
	env.Warehouse = b.warehouse(cfg.Daemon, format, log)
	if err := errors.Join(b.errs...); err != nil {
		return nil, b.close, errors.Join(err, b.close())
	}
	return env, b.close, nil
}

// builder gathers what must be closed and every error, so that all are told at once.
type builder struct {
	closers []func() error
	errs    []error
}

// keep remembers to close what was made, or why it was not.
func (b *builder) keep(close func() error, err error) bool {
	if err != nil {
		b.errs = append(b.errs, err)
		return false
	}
	b.closers = append(b.closers, close)
	return true
}

func (b *builder) close() error {
	var errs []error
	for _, c := range b.closers {
		errs = append(errs, c())
	}
	b.closers = nil
	return errors.Join(errs...)
}

func (b *builder) sources(all map[string]config.Source, log *slog.Logger) map[string]extract.Source {
	out := map[string]extract.Source{}
	for name, c := range all {
		s, err := oracle.New(oracle.Config{
			Host: c.Host, Port: c.Port, Service: c.Service, User: c.User.String(), Password: c.Password.Reveal,
			MaxSessions: c.MaxSessions, FetchBytes: int(c.FetchBytes), Reader: string(c.Reader), ConnectTimeout: c.ConnectTimeout, Log: log.With("source", name),
		})
		if err != nil {
			err = fmt.Errorf("source %s: %w", name, err)
		}
		if b.keep(func() error { return s.Close() }, err) {
			out[name] = s
		}
	}
	return out
}

func (b *builder) warehouse(d config.Daemon, format stage.Format, log *slog.Logger) publish.Warehouse {
	if c := d.Warehouse.Files; c != nil {
		w, err := files.New(files.Config{Root: c.Root, Format: format})
		if b.keep(func() error { return w.Close() }, err) {
			return w
		}
		return nil
	}
	w, err := b.hive(d, log)
	if b.keep(func() error { return w.Close() }, err) {
		return w
	}
	return nil
}

// hive needs the HDFS of the store too: the files of a target are listed there.
func (b *builder) hive(d config.Daemon, log *slog.Logger) (*hive.Warehouse, error) {
	c := d.Warehouse.Hive
	if c == nil || d.Store.HDFS == nil {
		return nil, errors.New("warehouse hive needs store.hdfs: Hive must be able to read what is staged")
	}
	password, err := c.Password.Reveal()
	if err != nil {
		return nil, fmt.Errorf("log in to Hive as %s: %w", c.User, err)
	}
	root, err := hdfsStore(*d.Store.HDFS, "/")
	if err != nil {
		return nil, err
	}
	b.keep(root.Close, nil)
	return hive.New(hive.Config{
		HS2: hs2.Config{
			Address: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), Auth: hs2.Auth(c.Auth), User: c.User, Password: password,
			ConnectTimeout: c.ConnectTimeout, CallTimeout: c.CallTimeout, CompileTimeout: c.CompileTimeout,
		},
		Sessions: c.Sessions, Settings: c.Settings, Lister: root, Log: log.With("warehouse", c.Name),
	})
}

func timing(r config.Recovery) pipeline.Timing {
	return pipeline.Timing{
		Heartbeat: r.Heartbeat, Stale: r.Stale, StepRenew: r.StepRenew, StepLease: r.StepLease, Poll: r.Poll, Grace: r.Grace,
	}
}

func recovery(d config.Daemon) pipeline.Recovery {
	r := d.Recovery
	return pipeline.Recovery{
		Interval: r.Heartbeat, PublishStale: r.PublishStale, Settle: r.PublishSettle, Mode: ledger.RecoveryMode(r.Mode),
		Prove: r.PublishUnknown == config.UnknownProve,
		Keep:  ledger.Retention{Success: d.Retention.Success, Failed: d.Retention.Failed},
	}
}

// Bounds of what one worker holds: a batch and a row group of the file being written. Larger gains nothing.
const (
	batchRows     = 8192
	mostBatch     = 8 << 20  // bytes
	mostRowGroup  = 64 << 20 // bytes
	leastRowGroup = 4 << 20  // bytes
)

// Where the collector of garbage begins: late, since what a run keeps is small and what it throws away is not (reading
// through go-ora takes a third less CPU so), and in time to stay near limits.memory.
const (
	growth = 400      // percent of what is kept
	beside = 64 << 20 // bytes that are neither batches nor files
)

// boundMemory tells the runtime what limits.memory means. It is a property of the process, like the limit itself.
func boundMemory(l config.Limits) {
	debug.SetGCPercent(growth)
	debug.SetMemoryLimit(int64(l.Memory) + beside)
}

// share is the memory of one worker, in bytes.
func share(l config.Limits) int64 { return int64(l.Memory) / int64(max(l.Workers, 1)) }

func limits(d config.Daemon) pipeline.Limits {
	out := pipeline.Limits{
		Workers: d.Limits.Workers, BatchRows: batchRows, BatchBytes: int(min(share(d.Limits)/16, mostBatch)), MaxSessions: map[string]int{},
	}
	for name, s := range d.Sources {
		out.MaxSessions[name] = s.MaxSessions
	}
	return out
}

func fileFormat(d config.Daemon) stage.Format {
	opt := parquet.Options{RowGroupBytes: min(max(share(d.Limits)/4, leastRowGroup), mostRowGroup)}
	if d.Warehouse.Files != nil { // no Hive reads it: the calendar of everyone else
		opt.Calendar = parquet.ProlepticCalendar
	}
	return parquet.Format{Options: opt}
}
