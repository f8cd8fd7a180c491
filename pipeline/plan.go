package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/publish"
	"github.com/loadctl/loadctl/stage"
)

// Spec is what a plan fixes for the rest of the run. It is stored with the manifest; every later step, in
// whatever process, reads it instead of asking the source or the dictionary again.
type Spec struct {
	Identities Identities        `json:"identities"`
	Snapshot   extract.Snapshot  `json:"snapshot"`
	Query      extract.Query     `json:"query"`
	Columns    []stage.Column    `json:"columns"`
	Measures   []extract.Measure `json:"measures"`
	Target     publish.Target    `json:"target"`
	Strategy   string            `json:"strategy"`
	Reason     string            `json:"reason"` // why this strategy, for people
}

// WarehouseMeasures are what staging and target are compared by: the plan's measures and a checksum of every column.
func (s Spec) WarehouseMeasures() []extract.Measure {
	ms := slices.Clone(s.Measures)
	for _, c := range s.Columns {
		ms = append(ms, extract.Measure{Column: c.Source, Type: c.Type, What: extract.Checksum})
	}
	return ms
}

// Plan is a plan as a value: looking at it is a dry run, registering it starts the run.
type Plan struct {
	Spec
	Manifest extract.Manifest
	State    publish.State // of the target, as it was looked at
	Create   bool          // the target table is missing and will be made
}

// MakePlan fixes the snapshot (or takes the given SCN), reads the dictionary, cuts the table, counts every slice and
// computes the source's metrics, and looks at the target. It changes nothing anywhere.
func (e *Env) MakePlan(ctx context.Context, job *Job, run, scn string) (*Plan, error) {
	src, err := e.source(job, run, extract.Identity{})
	if err != nil {
		return nil, err
	}
	p := &Plan{}
	if p.Identities, err = e.identify(ctx, src); err != nil {
		return nil, err
	}
	if err := e.describe(ctx, src, job, p); err != nil {
		return nil, err
	}
	if p.State, err = e.Warehouse.Inspect(ctx, p.Target); err != nil {
		return nil, err
	}
	p.Create = !p.State.Exists
	if p.Create && !job.Create {
		return nil, fmt.Errorf("%w: %s.%s; create it, or set target.create: if_missing", publish.ErrNoTarget, p.Target.Database, p.Target.Table)
	}
	src = src.As(job.session(run), p.Identities.Source)
	if p.Snapshot = (extract.Snapshot{SCN: scn}); scn == "" {
		if p.Snapshot, err = src.Snapshot(ctx); err != nil {
			return nil, err
		}
	}
	return p, e.measure(ctx, src, job, p)
}

// identify asks the three parties who they are.
func (e *Env) identify(ctx context.Context, src extract.Source) (id Identities, err error) {
	if id.Source, err = src.Identity(ctx); err != nil {
		return id, fmt.Errorf("identify the source: %w", err)
	}
	if id.Store, err = e.Store.Identity(ctx); err != nil {
		return id, fmt.Errorf("identify the store: %w", err)
	}
	if id.Warehouse, err = e.Warehouse.Identity(ctx); err != nil {
		return id, fmt.Errorf("identify the warehouse: %w", err)
	}
	return id, nil
}

// describe reads the dictionary and derives names, measures and the target's columns.
func (e *Env) describe(ctx context.Context, src extract.Source, job *Job, p *Plan) error {
	table, err := src.Describe(ctx, job.Selection)
	if err != nil {
		return err
	}
	p.Query = extract.Query{Table: table, Where: job.Where, Hint: job.Hint}
	if p.Columns, err = stage.Columns(table); err != nil {
		return fmt.Errorf("name the columns of %s: %w", tableText(table.Name), err)
	}
	if err := checkPartitionColumns(p.Columns, job.Target.Partition); err != nil {
		return err
	}
	split := ""
	if job.Split.Strategy == StrategyRange {
		split = job.Split.Column
	}
	choice := extract.Choice{All: job.Metrics == "all", Columns: job.MetricCols}
	if p.Measures, err = extract.DefaultMeasures(table, split, choice); err != nil {
		return fmt.Errorf("choose metrics of %s: %w", tableText(table.Name), err)
	}
	p.Target = job.Target
	p.Target.Columns = p.Columns
	return nil
}

// Split strategies.
const (
	StrategyRange  = "range"
	StrategySingle = "single"
)

// measure cuts the table and counts it, and proves that the slices cover it.
func (e *Env) measure(ctx context.Context, src extract.Source, job *Job, p *Plan) error {
	slices, err := cut(ctx, src, job, p)
	if err != nil {
		return err
	}
	p.Manifest, err = src.Measure(ctx, p.Query, p.Snapshot, slices, p.Measures)
	if err != nil {
		return err
	}
	if err := p.Manifest.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrManifest, err)
	}
	return nil
}

// cut makes the slices and says why they are as they are.
func cut(ctx context.Context, src extract.Source, job *Job, p *Plan) ([]extract.Slice, error) {
	p.Strategy = job.Split.Strategy
	switch job.Split.Strategy {
	case StrategySingle:
		p.Reason = "one slice, as the job says"
		return extract.PlanSingle(), nil
	case StrategyRange:
	default:
		return nil, fmt.Errorf("%w: split strategy %q is not one of range, single", ErrUsage, job.Split.Strategy)
	}
	table := p.Query.Table
	column, ok := table.Column(job.Split.Column)
	if !ok {
		return nil, fmt.Errorf("%w: split column %q is not among the columns read from %s", extract.ErrNoColumn, job.Split.Column, tableText(table.Name))
	}
	bounds, err := src.Bounds(ctx, p.Query, p.Snapshot, column.Name)
	if err != nil {
		return nil, err
	}
	slices, err := extract.PlanRange(column, bounds, job.Split.Partitions)
	if err != nil {
		return nil, fmt.Errorf("cut %s by %s: %w", tableText(table.Name), column.Name, err)
	}
	p.Reason = fmt.Sprintf("range on %s %s, %s..%s", column.Name, column.Declared, orNone(bounds.Min), orNone(bounds.Max))
	return slices, nil
}

// checkPartitionColumns refuses a target whose partition column is also a data column: Hive keeps its value in
// the path, not in the files.
func checkPartitionColumns(cols []stage.Column, parts []publish.PartitionValue) error {
	var errs []error
	for _, v := range parts {
		for _, c := range cols {
			if c.Name == v.Column {
				errs = append(errs, fmt.Errorf("%w: %s is a partition column of the target and, as %s, a column of the source: leave it out of its columns", publish.ErrSchema, v.Column, c.Source))
			}
		}
	}
	return errors.Join(errs...)
}

func tableText(n extract.TableName) string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
