package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

const planExample = `  loadctl plan --job INSP_DTL --date 2026-09-28         what would a run read and write? nothing is written now
  loadctl plan --job INSP_DTL --date 2026-09-28 --sql   with every statement that it would send`

// planFlags are the flags of plan.
type planFlags struct {
	job, date, scn string
	sql            bool
}

func (a *app) planCommand() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan --job JOB --date DATE",
		Short: "Show what a run would do; nothing is written anywhere",
		Long: "Plan fixes an SCN, cuts the table, counts every slice and looks at the target and the ledger, as a run does, and\n" +
			"writes nothing. It ends with GO and exit code 0, or with NO-GO and the exit code that a run would end with.",
		Example: planExample,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.plan(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.job, "job", "", "job to plan")
	fs.StringVar(&f.date, "date", "", "business date: 2026-09-28, today, yesterday or today-2, in the job's time zone")
	fs.StringVar(&f.scn, "scn", "", "read as of this SCN instead of now")
	fs.BoolVar(&f.sql, "sql", false, "print every statement too")
	return cmd
}

// planned is a plan with what else decides whether a run would go.
type planned struct {
	*pipeline.Plan
	job       *pipeline.Job
	source    []string // statements
	warehouse []string
	noGo      error // why a run would not go; nil: it would
}

func (a *app) plan(ctx context.Context, f planFlags) error {
	if err := required([2]string{"job", f.job}, [2]string{"date", f.date}); err != nil {
		return err
	}
	if !scnText.MatchString(f.scn) {
		return usage("--scn %q is not a system change number: want 1 to 38 digits", f.scn)
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	r, err := resolve(cfg, f.job, f.date, a.now())
	if err != nil {
		return err
	}
	p, err := a.makePlan(ctx, cfg, wire.Job(r, cfg), f.scn)
	if err != nil {
		return err
	}
	if a.json() {
		err = a.printJSON(planOf(p))
	} else {
		a.printPlan(p, f.sql)
	}
	return errors.Join(err, p.noGo)
}

func (a *app) makePlan(ctx context.Context, cfg *config.Config, job *pipeline.Job, scn string) (p planned, err error) {
	id, err := ledger.NewRunID()
	if err != nil {
		return p, fmt.Errorf("make a run id: %w", err)
	}
	p.job = job
	err = a.with(ctx, cfg, func(env *pipeline.Env) error {
		if p.Plan, err = env.MakePlan(ctx, job, id.String(), scn); err != nil {
			return err
		}
		if err := p.statements(env, ledger.Run{ID: id, Job: job.Name}); err != nil {
			return err
		}
		p.noGo = a.obstacle(ctx, env.Ledger, p)
		return nil
	})
	return p, err
}

// statements gathers what a run would send. The id in the names of its directory and staging table is only an example.
func (p *planned) statements(env *pipeline.Env, run ledger.Run) error {
	layout, err := env.Layout(run)
	if err != nil {
		return err
	}
	var parts []extract.Slice
	for _, s := range p.Manifest.Slices {
		parts = append(parts, s.Slice)
	}
	p.source = env.Sources[p.job.Source].Statements(p.Query, p.Snapshot, parts, p.Measures)
	p.warehouse = env.Warehouse.Statements(publish.Publication{
		Target: p.Target, Tag: "loadctl-" + run.ID.String() + "-1",
		Staging: publish.Staging{
			Database: p.job.StagingDB, Table: publish.StagingTable(p.job.Target.Table, run.ID.String()),
			Location: env.Store.URI(layout.RunDir()), Columns: p.Columns,
		},
	}, p.WarehouseMeasures(), p.Create)
	return nil
}

// obstacle says why a run would be refused although the plan is sound.
func (a *app) obstacle(ctx context.Context, l *ledger.Ledger, p planned) error {
	if p.Manifest.Rows == 0 && !p.job.AllowEmpty {
		return fmt.Errorf("%w: %s has none for %s as of SCN %s", pipeline.ErrEmpty, tableText(p.Query.Table.Name), p.job.Key, p.Snapshot.SCN)
	}
	return a.inTheWay(ctx, l, p.job)
}

// inTheWay says which active run a submit of the job would meet.
func (a *app) inTheWay(ctx context.Context, l *ledger.Ledger, job *pipeline.Job) error {
	active, err := l.List(ctx, ledger.Filter{Active: true, Limit: mostRuns})
	if err != nil {
		return err
	}
	for _, r := range active {
		first := ledger.Active{ID: r.ID, Job: r.Job, Key: r.Key, Number: r.Number, State: r.State, Since: r.Since, By: r.CreatedBy}
		if r.Job == job.Name && r.Key == job.Key {
			return duplicate(&ledger.DuplicateError{First: first}, a.alone(ctx, l))
		}
		if r.TargetID == job.TargetID {
			return duplicate(&ledger.TargetBusyError{Target: r.TargetID, First: first}, a.alone(ctx, l))
		}
	}
	return nil
}

func tableText(n extract.TableName) string {
	if n.Schema == "" {
		return n.Name
	}
	return n.Schema + "." + n.Name
}

func (a *app) printPlan(p planned, sql bool) {
	source := fmt.Sprintf("source  %s@%s as of scn %s   %s rows", tableText(p.Query.Table.Name), p.job.Source, p.Snapshot.SCN, count(p.Manifest.Rows))
	if p.Query.Where != "" {
		source += "   where " + p.Query.Where
	}
	a.say("%s", source)
	a.say("split   %s: %s; sum of slices = count of the table %s", p.Reason, plural(len(p.Manifest.Slices), "slice"), a.paint("32", "✓"))
	a.printSlices(p.Manifest.Slices)
	a.say("target  %s   %s", targetName(p.Target), targetState(p))
	a.printTypes(p)
	a.say("metrics %s", metricWords(p.Measures))
	if sql {
		a.printStatements("source", p.source)
		a.printStatements("warehouse", p.warehouse)
	}
	switch {
	case p.noGo != nil:
		a.say("%s   the reason is below", a.paint("31", "NO-GO"))
	case sql:
		a.say("%s", a.paint("32", "GO"))
	default:
		a.say("%s      --sql shows the %s for the source and the %s for the warehouse", a.paint("32", "GO"),
			plural(len(p.source), "statement"), plural(len(p.warehouse), "statement"))
	}
}

func (a *app) printSlices(all []extract.SliceCount) {
	t := &table{right: []bool{false, false, true}}
	for _, s := range all {
		note := ""
		if s.Rows == 0 {
			note = "empty"
		}
		t.add(fmt.Sprintf("p%d", s.Slice.ID), pipeline.Display(s.Slice), count(s.Rows), note)
	}
	for _, l := range t.lines() {
		a.say("        %s", l)
	}
}

func (a *app) printTypes(p planned) {
	t := &table{}
	for i, c := range p.Columns {
		t.add(c.Source, p.Query.Table.Columns[i].Declared, "→", c.Name, c.Type.String())
	}
	for i, l := range t.lines() {
		head := "      "
		if i == 0 {
			head = "types "
		}
		a.say("%s  %s", head, l)
	}
}

func (a *app) printStatements(of string, statements []string) {
	for i, s := range statements {
		a.say("-- %s statement %d of %d", of, i+1, len(statements))
		a.say("%s;", strings.TrimRight(s, "; \n"))
	}
}

func targetName(t publish.Target) string {
	text := t.Database + "." + t.Table
	for _, v := range t.Partition {
		text += "/" + v.Column + "=" + v.Value
	}
	return text
}

func targetState(p planned) string {
	if p.Create {
		return "the table is missing and will be made"
	}
	return "is there: " + p.State.Detail
}

func metricWords(ms []extract.Measure) string {
	var words []string
	last := ""
	for _, m := range ms {
		switch {
		case m.Column == "":
			words = append(words, string(m.What))
		case m.Column == last:
			words[len(words)-1] += "," + string(m.What)
		default:
			words = append(words, m.Column+" "+string(m.What))
		}
		last = m.Column
	}
	return strings.Join(words, "   ")
}
