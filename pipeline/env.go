package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Env is what the pipeline works with. It is made by cmd/internal/wire (or by a test, which may wrap a port),
// and shared by every goroutine of a process; nothing in it changes afterwards.
type Env struct {
	Ledger    *ledger.Ledger
	Sources   map[string]extract.Source // by the name that jobs use
	Store     stage.Store
	Warehouse publish.Warehouse
	Format    stage.Format // how chunks are written and read back
	Log       *slog.Logger
	Host      string // who works, for claims and events: "user@host/pid"
	Timing    Timing
	Recovery  Recovery
	Limits    Limits
}

// Timing says how long silence lasts before work counts as lost. Only the ledger's clock decides.
type Timing struct {
	Heartbeat time.Duration // of a partition; its lease is Stale
	Stale     time.Duration
	StepRenew time.Duration // of a step; its lease is StepLease
	StepLease time.Duration
	Poll      time.Duration // how often the ledger is asked for work when no notice came
	Grace     time.Duration // how long work in hand may go on after a stop was asked for
}

// Limits bounds one process.
type Limits struct {
	Workers     int            // partitions extracted at once, over all runs
	BatchRows   int            // rows of one batch
	BatchBytes  int            // arena bytes of one batch
	MaxSessions map[string]int // of each source, over all processes
}

// source finds a source by the name in a job, its sessions marked as belonging to the run.
func (e *Env) source(job *Job, run string, id extract.Identity) (extract.Source, error) {
	s, ok := e.Sources[job.Source]
	if !ok {
		var names []string
		for n := range e.Sources {
			names = append(names, n)
		}
		slices.Sort(names)
		return nil, fmt.Errorf("%w: this host's configuration has no source %q (it has: %s)", ErrUsage, job.Source, strings.Join(names, ", "))
	}
	return s.As(job.session(run), id), nil
}

// Identities are the names of the three parties, fixed when a run is planned and compared by every step.
type Identities struct {
	Source    extract.Identity `json:"source"`
	Store     string           `json:"store"`
	Warehouse string           `json:"warehouse"`
}

// check compares the store and the warehouse that this process reaches with those that the run was planned on.
func (e *Env) check(ctx context.Context, want Identities) error {
	store, err := e.Store.Identity(ctx)
	if err != nil {
		return fmt.Errorf("identify the store: %w", err)
	}
	warehouse, err := e.Warehouse.Identity(ctx)
	if err != nil {
		return fmt.Errorf("identify the warehouse: %w", err)
	}
	if store != want.Store {
		return fmt.Errorf("%w: the store is %s, the run was planned on %s", extract.ErrIdentity, store, want.Store)
	}
	if warehouse != want.Warehouse {
		return fmt.Errorf("%w: the warehouse is %s, the run was planned on %s", extract.ErrIdentity, warehouse, want.Warehouse)
	}
	return nil
}
