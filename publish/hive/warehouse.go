package hive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/publish/hive/hs2"
	"github.com/loadctl/loadctl/stage"
)

// Config says where Hive is.
type Config struct {
	HS2      hs2.Config
	Sessions int               // kept for ordinary statements at most, default 4; a publish has one of its own
	Settings map[string]string // the site's session variables: queue, engine
	Lister   Lister            // how files of a target are listed
	Log      *slog.Logger      // nil: nowhere
}

// Warehouse is a publish.Warehouse.
type Warehouse struct {
	cfg  Config
	pool *hs2.Pool
	log  *slog.Logger
}

var _ publish.Warehouse = (*Warehouse)(nil)

// New makes a warehouse; it connects when it is first used.
func New(cfg Config) (*Warehouse, error) {
	if cfg.HS2.Address == "" {
		return nil, errors.New("open Hive: no address of HiveServer2")
	}
	if cfg.Lister == nil {
		return nil, errors.New("open Hive: no lister of files")
	}
	for name, value := range cfg.Settings {
		if err := checkSetting(name, value); err != nil {
			return nil, fmt.Errorf("open Hive: %w", err)
		}
	}
	w := &Warehouse{cfg: cfg, log: cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))}
	w.pool = hs2.NewPool(cfg.HS2, cmp.Or(cfg.Sessions, 4), w.prepare)
	return w, nil
}

// Close ends the sessions.
func (w *Warehouse) Close() error { return w.pool.Close(context.Background()) }

// query runs one ordinary statement on a session of the pool.
func (w *Warehouse) query(ctx context.Context, op, statement string) (rows [][]hs2.Value, err error) {
	err = w.pool.With(ctx, func(s *hs2.Session) error {
		rows, err = run(ctx, s, statement)
		return err
	})
	return rows, wrap(op, err)
}

// Identity is the location of the default database, which the metastore itself keeps, and the addresses of
// the metastore where the server has one apart. Every HiveServer2 on one metastore gives the same.
func (w *Warehouse) Identity(ctx context.Context) (string, error) {
	const op = "identify the metastore"
	rows, err := w.query(ctx, op, describeDefaultDatabase)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 || len(rows[0]) < 3 {
		return "", fmt.Errorf("%s: %w: DESCRIBE DATABASE gave no location", op, publish.ErrStatement)
	}
	identity := rows[0][2].Text
	uris, err := w.metastoreURIs(ctx)
	if err != nil {
		return "", wrap(op, err)
	}
	if len(uris) > 0 {
		identity += " by " + strings.Join(uris, ",")
	}
	return identity, nil
}

// metastoreURIs are sorted: servers of one cluster may list them in different orders.
func (w *Warehouse) metastoreURIs(ctx context.Context) (uris []string, err error) {
	err = w.pool.With(ctx, func(s *hs2.Session) error {
		for _, name := range []string{"metastore.thrift.uris", "hive.metastore.uris"} {
			value, ok, err := ask(ctx, s, name)
			if err != nil {
				return err
			}
			if ok && value != "" {
				uris = strings.Split(value, ",")
				break
			}
		}
		return nil
	})
	for i := range uris {
		uris[i] = strings.TrimSpace(uris[i])
	}
	slices.Sort(uris)
	return uris, err
}

// Inspect implements publish.Warehouse.
func (w *Warehouse) Inspect(ctx context.Context, t publish.Target) (publish.State, error) {
	op := "inspect table " + t.Database + "." + t.Table
	if err := checkColumns(t.Columns, t.Partition); err != nil {
		return publish.State{}, fmt.Errorf("%s: %w", op, err)
	}
	d, err := w.describe(ctx, op, describeTable(t.Database, t.Table))
	switch {
	case hasCode(err, codeNoTable):
		return publish.State{}, nil
	case hasCode(err, codeNoDatabase):
		return publish.State{}, noDatabase(op, t.Database)
	case err != nil:
		return publish.State{}, err
	}
	state := publish.State{Exists: true, Location: d.location, Detail: d.detailText()}
	return state, publish.SchemaError(t.Database, t.Table, d.differences(t))
}

func noDatabase(op, name string) error {
	return fmt.Errorf("%s: %w: there is no database %q; create it, loadctl makes tables only", op, publish.ErrNoTarget, name)
}

func (w *Warehouse) describe(ctx context.Context, op, statement string) (description, error) {
	rows, err := w.query(ctx, op, statement)
	if err != nil {
		return description{}, err
	}
	d, err := parseDescription(rows)
	return d, unreadable(op, err)
}

// Create implements publish.Warehouse.
func (w *Warehouse) Create(ctx context.Context, t publish.Target) error {
	op := "create table " + t.Database + "." + t.Table
	if err := checkColumns(t.Columns, t.Partition); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	_, err := w.query(ctx, op, createTarget(t))
	if hasCode(err, codeNoDatabase) {
		return noDatabase(op, t.Database)
	}
	return err
}

// Stage makes the staging table and looks whether it is the one that was asked for: IF NOT EXISTS would be
// content with any other of that name.
func (w *Warehouse) Stage(ctx context.Context, s publish.Staging) error {
	op := "create staging table " + s.Database + "." + s.Table
	if err := checkColumns(s.Columns, nil); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	_, err := w.query(ctx, op, createStaging(s))
	if hasCode(err, codeNoDatabase) {
		return noDatabase(op, s.Database)
	}
	if err != nil {
		return err
	}
	d, err := w.describe(ctx, op, describeTable(s.Database, s.Table))
	if err != nil {
		return err
	}
	if diffs := d.stagingDifferences(s); len(diffs) > 0 {
		return fmt.Errorf("%s: %w: a table of that name is there and is another: %s", op, publish.ErrSchema, strings.Join(diffs, "; "))
	}
	return nil
}

func (d description) stagingDifferences(s publish.Staging) []string {
	out := append(d.kindDifferences(), publish.ColumnDifferences(d.columns, fields(s.Columns))...)
	if !sameLocation(d.location, s.Location) {
		out = append(out, fmt.Sprintf("its location is %s, not %s", d.location, s.Location))
	}
	if strings.EqualFold(d.parameters["external.table.purge"], "true") {
		out = append(out, "dropping it would delete its files (external.table.purge)")
	}
	return out
}

// Unstage drops the staging table. It looks first: a table of that name whose drop would delete files is left.
func (w *Warehouse) Unstage(ctx context.Context, s publish.Staging) error {
	op := "drop staging table " + s.Database + "." + s.Table
	d, err := w.describe(ctx, op, describeTable(s.Database, s.Table))
	switch {
	case hasCode(err, codeNoTable), hasCode(err, codeNoDatabase):
		return nil
	case err != nil:
		return err
	}
	if diffs := d.stagingDifferences(s); len(diffs) > 0 {
		return fmt.Errorf("%s: %w: a table of that name is there and is another: %s", op, publish.ErrSchema, strings.Join(diffs, "; "))
	}
	_, err = w.query(ctx, op, dropStaging(s))
	return err
}

// Measure implements publish.Warehouse: one statement for all measures.
func (w *Warehouse) Measure(ctx context.Context, in publish.Scope, ms []extract.Measure) ([]extract.Metric, error) {
	const op = "measure"
	cols, err := scopeColumns(in)
	if err != nil {
		return nil, err
	}
	ts, err := terms(cols, ms)
	if err != nil || len(ts) == 0 {
		return nil, err
	}
	rows, err := w.query(ctx, op, selectMeasures(in, ts))
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("%s: %w: %d rows came back, want 1", op, publish.ErrStatement, len(rows))
	}
	out, err := metrics(rows[0], ts)
	return out, unreadable(op, err)
}

// Observe implements publish.Warehouse.
func (w *Warehouse) Observe(ctx context.Context, t publish.Target) (publish.Evidence, error) {
	op := "observe " + t.Database + "." + t.Table
	e := publish.Evidence{At: time.Now()}
	d, err := w.describe(ctx, op, describePartition(t))
	switch {
	case hasCode(err, codeNoPartition):
		return e, nil
	case hasCode(err, codeNoTable), hasCode(err, codeNoDatabase):
		return e, fmt.Errorf("%w: %w", publish.ErrNoTarget, err)
	case err != nil:
		return e, err
	}
	e.Location, e.LastDDL = d.location, d.parameters["transient_lastDdlTime"]
	e.Files, err = list(ctx, w.cfg.Lister, e.Location)
	if errors.Is(err, stage.ErrNotExist) {
		return e, nil // the metastore points at nothing: no rows can be there, and Hive would not count them
	}
	if err != nil {
		return e, fmt.Errorf("%s: list %s: %w", op, e.Location, storeError(err))
	}
	rows, err := w.query(ctx, op, countRows(t))
	if err != nil {
		return e, err
	}
	e.Rows, err = readCount(rows)
	return e, unreadable(op, err)
}

// Open implements publish.Warehouse.
func (w *Warehouse) Open(ctx context.Context, tag string) (publish.Session, error) {
	const op = "open a session to publish"
	s, err := hs2.Open(ctx, w.cfg.HS2)
	if err != nil {
		return nil, wrap(op, err)
	}
	if err := w.prepare(ctx, s); err != nil {
		s.Close(ctx)
		return nil, wrap(op, err)
	}
	return &session{s: s, tag: tag}, nil
}

// Fence closes a session that another process may hold, on the very server that it is of. No error means that
// nothing can be sent or done in it any more.
func (w *Warehouse) Fence(ctx context.Context, h publish.Handle) error {
	handle, err := hs2.ParseSessionHandle(h.Session)
	if err != nil {
		return fmt.Errorf("fence the publisher: %w", err)
	}
	cfg := w.cfg.HS2
	cfg.Address = h.Instance
	return wrap("fence the publisher", hs2.CloseSession(ctx, cfg, handle))
}

// Statements implements publish.Warehouse. The columns of INSERT are in the plan's order here; a target that
// is there already may have another, which is then used.
func (w *Warehouse) Statements(p publish.Publication, ms []extract.Measure, create bool) []string {
	var out []string
	if create {
		out = append(out, createTarget(p.Target))
	}
	order := make([]string, len(p.Target.Columns))
	for i, c := range p.Target.Columns {
		order[i] = c.Name
	}
	out = append(out, createStaging(p.Staging))
	if ts, err := terms(p.Staging.Columns, ms); err == nil && len(ts) > 0 {
		out = append(out, selectMeasures(publish.Scope{Staging: &p.Staging}, ts), insertOverwrite(p, order),
			selectMeasures(publish.Scope{Target: &p.Target}, ts))
	} else {
		out = append(out, insertOverwrite(p, order))
	}
	return append(out, dropStaging(p.Staging))
}
