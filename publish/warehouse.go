package publish

import (
	"context"
	"errors"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/stage"
)

// Errors that every Warehouse maps its own to. They are wrapped.
var (
	// ErrUnreachable: no connection, or it was lost before anything that matters was sent. It may pass.
	ErrUnreachable = errors.New("warehouse unreachable")
	// ErrAuth: the login or an authorization was refused.
	ErrAuth = errors.New("warehouse refuses the login")
	// ErrNoTarget: the target table is not there and may not be created.
	ErrNoTarget = errors.New("target table not found")
	// ErrSchema: the target's columns or partitioning are not those of the plan; the text names each.
	ErrSchema = errors.New("target schema differs")
	// ErrStatement: a statement other than the publish itself was refused or failed.
	ErrStatement = errors.New("statement failed")
	// ErrRefused: the publish statement was refused before it ran: proof that the target is unchanged.
	ErrRefused = errors.New("publish refused")
	// ErrUnknown: the publish statement was sent, or may have been, and its outcome is not known.
	ErrUnknown = errors.New("publish outcome unknown")
)

// PartitionValue is one column of a static partition.
type PartitionValue struct {
	Column string `json:"column"`
	Value  string `json:"value"`
}

// Target is what a run replaces: a partition of a table, or a whole unpartitioned table.
type Target struct {
	Database  string           `json:"database"`
	Table     string           `json:"table"`
	Partition []PartitionValue `json:"partition,omitempty"` // in the table's order; empty: unpartitioned
	Columns   []stage.Column   `json:"columns"`
}

// Staging is the external table over a run's sealed files.
type Staging struct {
	Database string         `json:"database"`
	Table    string         `json:"table"`
	Location string         `json:"location"` // URI of the run's directory
	Columns  []stage.Column `json:"columns"`
}

// Scope names rows to measure: exactly one field is set.
type Scope struct {
	Staging *Staging
	Target  *Target // its partition only
}

// State is what the warehouse has at a target.
type State struct {
	Exists   bool
	Location string
	Detail   string // one line for people: kind of table, format
}

// FileEvidence is one file of a target.
type FileEvidence struct {
	Path    string    `json:"path"`
	ID      uint64    `json:"id"` // the store's own id of the file (HDFS fileId, inode); 0 unknown
	Size    int64     `json:"size"`
	ModTime time.Time `json:"mtime"`
}

// Evidence is what a target looks like at one moment: E0 before the statement, E1 after it.
type Evidence struct {
	Location string         `json:"location"` // "" when the partition does not exist
	LastDDL  string         `json:"last_ddl"` // transient_lastDdlTime
	Files    []FileEvidence `json:"files"`
	Rows     int64          `json:"rows"`
	At       time.Time      `json:"at"`
}

// Handle names a session of a warehouse well enough for another process to close it.
type Handle struct {
	Instance string `json:"instance"` // the server's own address, not a balancer's
	Session  string `json:"session"`  // opaque
}

// Progress tells of a running statement.
type Progress struct {
	Operation string  // opaque operation handle, "" until known
	QueryID   string  // the server's id of the query, "" until known
	Fraction  float64 // 0..1, -1 unknown
	Text      string
}

// Result is a confirmed end of the publish statement.
type Result struct {
	Rows    int64 // rows the warehouse says it wrote, -1 when it does not say
	QueryID string
	Elapsed time.Duration
}

// Publication is what a publish statement does: Target's partition becomes Staging's rows.
type Publication struct {
	Staging Staging
	Target  Target
	Tag     string // "loadctl-<run>-<attempt>", carried by the statement so that it can be found and killed
}

// Session is a warehouse session opened to send one publish statement. Between Open and Publish the caller
// marks and arms (see the ledger).
type Session interface {
	Handle() Handle
	// Publish sends the statement, once, and waits for its end; report may be called from another goroutine
	// until it returns. Errors: ErrRefused (target proved unchanged), anything else is ErrUnknown.
	Publish(ctx context.Context, p Publication, report func(Progress)) (Result, error)
	Close(ctx context.Context) error
}

// Warehouse holds targets. Its methods are safe for concurrent use.
type Warehouse interface {
	// Identity names the metastore, compared between processes.
	Identity(ctx context.Context) (string, error)
	// Inspect looks at the target without changing anything. A target that is there must have the columns and
	// partitioning of t: else ErrSchema.
	Inspect(ctx context.Context, t Target) (State, error)
	// Create makes the target table if it is not there.
	Create(ctx context.Context, t Target) error
	// Stage makes the staging table; made before by the same run is no error. Unstage drops it, never its files.
	Stage(ctx context.Context, s Staging) error
	Unstage(ctx context.Context, s Staging) error
	// Measure computes the measures over a scope, by the same expressions whatever the scope.
	Measure(ctx context.Context, in Scope, ms []extract.Measure) ([]extract.Metric, error)
	// Observe gathers evidence of a target: ErrNoTarget if there is no table, evidence of nothing if only its partition is
	// missing.
	Observe(ctx context.Context, t Target) (Evidence, error)
	// Open opens a session for one publish statement.
	Open(ctx context.Context, tag string) (Session, error)
	// Fence closes a session that another process may hold, on the very instance that it is of. No error means that
	// nothing can be sent or done in it any more; ErrUnreachable that nothing is known.
	Fence(ctx context.Context, h Handle) error
	// Statements lists, for a plan, every text that a run would send.
	Statements(p Publication, ms []extract.Measure, create bool) []string
	Close() error
}
