package extract

import (
	"context"
	"errors"
	"time"
)

// Errors that every Source maps its own codes to, at the first line that sees them. They are wrapped, so
// errors.Is finds them and the text still names the source's own code.
var (
	// ErrSnapshotTooOld: the source can no longer show the table as of the snapshot (ORA-01555, 08180, 08181,
	// 01466, 08103). Final for the run: only a new snapshot helps.
	ErrSnapshotTooOld = errors.New("snapshot too old")
	// ErrUnreachable: no connection, or the connection was lost. Nothing was changed; it may pass.
	ErrUnreachable = errors.New("source unreachable")
	// ErrBusy: a limit of the source was met (sessions, processes, resource). It may pass.
	ErrBusy = errors.New("source busy")
	// ErrAuth: wrong user or password, locked or expired account. Never tried again by itself.
	ErrAuth = errors.New("source refuses the login")
	// ErrPrivilege: a privilege is missing; the text names the GRANT.
	ErrPrivilege = errors.New("privilege missing")
	// ErrNoTable and ErrNoColumn: the object is not there, or not visible to this user.
	ErrNoTable  = errors.New("table not found")
	ErrNoColumn = errors.New("column not found")
	// ErrUnsupported: a column type or object kind that is refused at plan time, by name.
	ErrUnsupported = errors.New("not supported")
	// ErrValue: a value that the declared type cannot hold exactly. Never rounded, replaced or cut.
	ErrValue = errors.New("value does not fit its type")
	// ErrIdentity: the database that answers is not the one that the run was planned on.
	ErrIdentity = errors.New("another database answers")
	// ErrShort: a stream ended without the source saying that it was the end, or with another number of rows
	// than it said.
	ErrShort = errors.New("stream ended early")
	// ErrQuery: the source refused the statement for a reason that repeating will not mend.
	ErrQuery = errors.New("query refused")
)

// Identity names the database that a snapshot belongs to. An SCN of a clone would be wrong rows in silence,
// so it is stored at plan and compared in every session.
type Identity struct {
	DBID       string `json:"dbid"`
	UniqueName string `json:"unique_name"`
	Container  string `json:"container"`
}

// Snapshot is the instant that every statement of a run reads at.
type Snapshot struct {
	SCN  string `json:"scn"`  // decimal text: up to 38 digits
	Time string `json:"time"` // the source's own clock at that instant, RFC 3339, "" if unknown
}

// TableName names a table. Names are exact: whoever parses configuration has folded unquoted names already.
// An empty Schema is the login's own.
type TableName struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
}

// Column is a column as the source declares it and as it will travel.
type Column struct {
	Name     string `json:"name"`     // exact, as in the source's dictionary
	Declared string `json:"declared"` // the source's own words, as in "NUMBER(18,2)"
	Type     Type   `json:"type"`
	Nullable bool   `json:"nullable"`
}

// Table is what the dictionary says of a table, reduced to the columns that are asked for, in that order.
type Table struct {
	Name      TableName `json:"name"`
	Columns   []Column  `json:"columns"`
	Key       []string  `json:"key,omitempty"` // primary key columns, in order
	Estimated int64     `json:"estimated"`     // rows by the dictionary's statistics; -1 unknown. Never trusted
}

// Column finds a column by its exact name.
func (t *Table) Column(name string) (Column, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return Column{}, false
}

// Selection says which columns of which table are wanted.
type Selection struct {
	Table   TableName         `json:"table"`
	Columns []string          `json:"columns,omitempty"` // exact names; nil means every visible column, in the table's order
	Types   map[string]string `json:"types,omitempty"`   // overrides by column, as in "decimal(38,4)" or "string"
}

// Query is what a run reads: the same rows for planning, measuring and reading, whatever the slice.
type Query struct {
	Table *Table `json:"table"`
	Where string `json:"where"` // an expression, checked by whoever parsed it; "" means all rows
	Hint  string `json:"hint"`  // an optimiser hint without its comment signs; "" means none
}

// Session says who asks, for the source's own session views.
type Session struct {
	Action string // "<job>/<key>"
	Client string // the run id

	Init         []string      // ALTER SESSION statements for each new session, after the adapter's own pins
	FetchRows    int           // rows asked for in one round trip; 0: the adapter's choice
	QueryTimeout time.Duration // longest time of one Read, Measure or Bounds; 0: no limit
	StallTimeout time.Duration // longest time of a Read without a row; 0: no limit
}

// Source is a database that can show a table as of a snapshot. Its methods are safe for concurrent use; each
// call that reads opens (or takes) a session of its own, never more than the source's limit.
type Source interface {
	// Identity asks the database who it is.
	Identity(ctx context.Context) (Identity, error)
	// Snapshot fixes the present instant.
	Snapshot(ctx context.Context) (Snapshot, error)
	// Describe reads the dictionary. Every fault of the selection is reported at once: joined errors of
	// ErrNoColumn and ErrUnsupported, each naming its column.
	Describe(ctx context.Context, s Selection) (*Table, error)
	// Bounds finds the least and greatest value of a column and the rows, NULLs included, at the snapshot.
	Bounds(ctx context.Context, q Query, at Snapshot, column string) (Bounds, error)
	// Measure counts every slice and computes the measures, in one statement at the snapshot, together with
	// the count of all rows: the proof that the slices cover the table once.
	Measure(ctx context.Context, q Query, at Snapshot, slices []Slice, ms []Measure) (Manifest, error)
	// Read streams the rows of one slice at the snapshot.
	Read(ctx context.Context, q Query, at Snapshot, s Slice) (Reader, error)
	// Statements lists, for a plan, the texts that Measure and Read would send.
	Statements(q Query, at Snapshot, slices []Slice, ms []Measure) []string
	// As returns the same source, whose sessions are marked as s and check that the database is still id.
	As(s Session, id Identity) Source
	// Close ends every session.
	Close() error
}

// Reader streams one slice. It is used by one goroutine.
type Reader interface {
	// Next fills b, which it resets first, with at least one row, or returns io.EOF after the last one. b must
	// have been made for the query's columns. It stops at the batch's own limits (see Batch).
	Next(ctx context.Context, b *Batch) error
	// Close breaks off whatever is still running and gives the session back or throws it away.
	Close() error
}

// Chooser is a Reader of a source that can read in more than one way.
type Chooser interface {
	// ReadBy names the way, and says why it is not the usual one; why is "" if it is.
	ReadBy() (way, why string)
}
