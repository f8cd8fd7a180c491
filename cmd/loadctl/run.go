package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

const runExample = `  loadctl run --job INSP_DTL --date 2026-09-28      make the run and drive it to its end
  loadctl run --job INSP_DTL --date yesterday -q    the same from cron: one line, or an error
  loadctl run --job INSP_DTL --date today --detach  only make it; loadd does the work
  loadctl run --attach INSP_DTL/2026-09-28          drive a run that is there already`

// runFlags are the flags of run.
type runFlags struct {
	job, date string
	scn       string
	attach    string
	detach    bool
	progress  time.Duration
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run --job JOB --date DATE",
		Short:   "Load a job for a date: make a run and drive it to its end",
		Example: runExample,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.job, "job", "", "job to load")
	fs.StringVar(&f.date, "date", "", "business date: 2026-09-28, today, yesterday or today-2, in the job's time zone")
	fs.StringVar(&f.scn, "scn", "", "read as of this SCN instead of now")
	fs.StringVar(&f.attach, "attach", "", "drive this run instead of making one")
	fs.BoolVar(&f.detach, "detach", false, "make the run and return; a daemon does the work")
	fs.DurationVar(&f.progress, "progress", time.Minute, "pause between lines of progress off a terminal; 0: boundaries only")
	return cmd
}

func (f runFlags) check() error {
	if f.attach != "" {
		if f.job != "" || f.date != "" || f.scn != "" || f.detach {
			return usage("--attach drives a run that has its job, date and SCN already: leave out --job, --date, --scn and --detach")
		}
		return nil
	}
	if !scnText.MatchString(f.scn) {
		return usage("--scn %q is not a system change number: want 1 to 38 digits", f.scn)
	}
	return required([2]string{"job", f.job}, [2]string{"date", f.date})
}

// scnText accepts no SCN at all too.
var scnText = regexp.MustCompile(`^([1-9][0-9]{0,37})?$`)

func (a *app) run(ctx context.Context, f runFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	cfg, err := a.load()
	if err != nil {
		return err
	}
	var job *pipeline.Job
	if f.attach == "" { // a bad name or date is told before anything is connected to
		r, err := resolve(cfg, f.job, f.date, a.now())
		if err != nil {
			return err
		}
		job = wire.Job(r, cfg)
	}
	return a.with(ctx, cfg, func(env *pipeline.Env) error { return a.runOn(ctx, env, job, f) })
}

// runOn makes or finds the run, and drives it.
func (a *app) runOn(ctx context.Context, env *pipeline.Env, job *pipeline.Job, f runFlags) error {
	if job == nil {
		run, err := env.Ledger.Find(ctx, f.attach)
		if err != nil {
			return findError(f.attach, err)
		}
		return a.drive(ctx, env, run, false, f.progress)
	}
	if err := a.inTheWay(ctx, env.Ledger, job); err != nil { // the submit guards it; this spares the source the questions
		return err
	}
	if err := env.Preflight(ctx, job); err != nil {
		return nothingMade(job, err)
	}
	// One short transaction, not broken off by the first signal: whether there is a run is then always known.
	run, err := env.Submit(a.Hard, job, pipeline.Submission{SCN: f.scn, By: wire.Who()})
	if err != nil {
		return duplicate(err, a.alone(ctx, env.Ledger))
	}
	if f.detach {
		return a.detached(run)
	}
	return a.drive(ctx, env, run, true, f.progress)
}

// nothingMade says of an error before the submit that it left nothing behind.
func nothingMade(job *pipeline.Job, err error) error {
	if errors.Is(err, context.Canceled) {
		return &failure{err: pipeline.ErrInterrupted, text: fmt.Sprintf("interrupted; no run of %s/%s was made", job.Name, job.Key), what: "a signal ended the work before there was a run"}
	}
	return fmt.Errorf("%s/%s from %s: no run was made: %w", job.Name, job.Key, job.Source, err)
}

func (a *app) detached(run ledger.Run) error {
	if a.json() {
		m := messageOf("boundary", sight{run: run, at: run.CreatedAt, ladder: accepted(run)}, 0)
		m.Boundary = ledger.Accepted
		writeLine(a.Out, m)
		return nil
	}
	a.say("accepted %s  %s", run.Handle(), run.ID)
	a.note("a daemon does the work; without one: loadctl resume %s", run.Short())
	return nil
}

func accepted(run ledger.Run) []ledger.Reached {
	return []ledger.Reached{{Boundary: ledger.Accepted, At: run.CreatedAt, By: run.CreatedBy}}
}

// drive works on one run until it is over, and shows it.
func (a *app) drive(ctx context.Context, env *pipeline.Env, run ledger.Run, fresh bool, every time.Duration) error {
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	over := make(chan struct{})
	var engineErr error // written before over is closed
	go func() {
		defer close(over)
		engine := pipeline.Engine{Env: env, Only: run.ID}
		engineErr = engine.Run(work, a.Hard)
	}()
	release := context.AfterFunc(ctx, func() { a.stopping(run) })
	defer release()
	f := follow{
		a: a, ledger: env.Ledger, run: run.ID, until: ledger.Verified, gap: redraw, every: time.Second,
		show: a.display(fresh, every, ledger.Verified),
	}
	// The signal that stops the engine does not stop the watching: what was handed back is to be seen.
	s, err := f.loop(context.WithoutCancel(ctx), over)
	cancel()
	<-over
	if err != nil && ctx.Err() != nil { // the ledger is away too
		return interrupted(orRun(s.run, run))
	}
	if err != nil {
		return &failure{err: err, run: run.ID.String(), hint: "the run lives on in the ledger: loadctl resume " + run.Short()}
	}
	return a.outcome(ctx, env.Ledger, s, engineErr)
}

// stopping tells the person who interrupted what happens now.
func (a *app) stopping(run ledger.Run) {
	a.note("%s stopping: what is in hand of %s is finished or handed back (once more: at once)", clockTime(a.now()), run.Handle())
}

// outcome is the result of a run that was driven, or why it has none.
func (a *app) outcome(ctx context.Context, l *ledger.Ledger, s sight, engineErr error) error {
	switch {
	case !s.run.State.Active():
		return a.result(context.WithoutCancel(ctx), l, s, ledger.Verified)
	case s.run.State == ledger.PublishUnknown:
		return ended(s.run)
	case ctx.Err() != nil:
		return interrupted(s.run)
	case engineErr != nil:
		return &failure{err: engineErr, run: s.run.ID.String(),
			hint: "once its cause is gone: loadctl resume " + s.run.Short() + "    what happened: loadctl events " + s.run.Short()}
	}
	return fmt.Errorf("drive %s: the engine ended although the run is %s", s.run.Handle(), s.run.State)
}

func interrupted(r ledger.Run) error {
	return &failure{
		err: pipeline.ErrInterrupted, run: r.ID.String(),
		text: fmt.Sprintf("interrupted; %s (%s) stays %s in the ledger, nothing of it is lost", r.Handle(), r.Short(), r.State),
		hint: "loadctl resume " + r.ID.String(),
	}
}

// result prints the end of a run that was driven or waited for, on stdout; a failure is an error.
func (a *app) result(ctx context.Context, l *ledger.Ledger, s sight, until ledger.Boundary) error {
	reached, ok := s.reached(until)
	if !ok && s.run.State != ledger.Skipped {
		return ended(s.run)
	}
	measured, err := l.Validations(ctx, s.run.ID)
	if err != nil {
		return err
	}
	n := countMetrics(measured)
	if a.json() {
		m := messageOf("summary", s, 0)
		m.Boundary, m.Metrics = until, &n
		writeLine(a.Out, m)
		return nil
	}
	word, at := string(until), reached.At
	if !ok {
		word, at = "skipped", s.run.Since
	}
	a.say("%s", resultLine(s, word, at.Sub(s.run.CreatedAt), n))
	return nil
}

// resultLine says what a run that reached a boundary holds by then.
func resultLine(s sight, word string, took time.Duration, n metricCount) string {
	text := fmt.Sprintf("%s %s in %s", word, s.run.Handle(), minutes(took))
	if _, ok := s.reached(ledger.Extracted); ok {
		text += fmt.Sprintf("   %s rows  %s  %s", count(s.run.RowsDone), size(s.run.Bytes), plural(s.run.Chunks, "chunk"))
	}
	if n.Target > 0 {
		text += fmt.Sprintf("   source = staging = target (%s)", plural(n.Target, "metric"))
	}
	return text
}
