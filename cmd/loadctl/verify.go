package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

const verifyExample = `  loadctl verify --job INSP_DTL --date yesterday    exit 0: it holds; exit 1: somebody changed it`

func (a *app) verifyCommand() *cobra.Command {
	var job, date string
	cmd := &cobra.Command{
		Use:   "verify --job JOB --date DATE",
		Short: "Does a target still hold what was published?",
		Long: "Verify compares the files of a target with those that the last successful run of that date left there: paths, ids,\n" +
			"sizes and times. It changes nothing and reads no rows.",
		Example: verifyExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := required([2]string{"job", job}, [2]string{"date", date}); err != nil {
				return err
			}
			return a.verify(cmd.Context(), job, date)
		},
	}
	cmd.Flags().StringVar(&job, "job", "", "job that was loaded")
	cmd.Flags().StringVar(&date, "date", "", "business date: 2026-09-28, today, yesterday or today-2, in the job's time zone")
	return cmd
}

func (a *app) verify(ctx context.Context, job, date string) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	r, err := resolve(cfg, job, date, a.now())
	if err != nil {
		return err
	}
	return a.with(ctx, cfg, func(env *pipeline.Env) error { return a.verifyKey(ctx, env, r.Job, r.Key) })
}

func (a *app) verifyKey(ctx context.Context, env *pipeline.Env, job, key string) error {
	run, later, err := lastVerified(ctx, env.Ledger, job, key)
	if err != nil {
		return err
	}
	for _, l := range later {
		a.note("a later run did not succeed: %s is %s", named(l), stateLine(l))
	}
	held, err := env.Verify(ctx, run.ID)
	if err != nil {
		return err
	}
	if a.json() {
		if err := a.printJSON(heldOf(held)); err != nil {
			return err
		}
	} else if held.Holds() {
		a.say("holds    %s is what %s published at %s: %s, %s", targetName(held.Target), named(run), held.Published.At.Local().Format("2006-01-02 15:04:05"),
			plural(held.Kept, "file"), size(bytesOf(held.Now)))
	}
	if held.Holds() {
		return nil
	}
	return notHeld(held)
}

// lastVerified finds the newest run of a date that succeeded, and those after it that ended otherwise, or go on.
func lastVerified(ctx context.Context, l *ledger.Ledger, job, key string) (run ledger.Run, later []ledger.Run, err error) {
	runs, err := l.List(ctx, ledger.Filter{Job: job, Key: key, Limit: mostRuns})
	if err != nil {
		return run, nil, err
	}
	for _, r := range runs {
		if r.State == ledger.Success {
			return r, later, nil
		}
		later = append(later, r)
	}
	text := fmt.Sprintf("no run of %s/%s has succeeded", job, key)
	return run, nil, &failure{err: ledger.ErrNoRun, text: text, hint: fmt.Sprintf("loadctl list --job %s --date %s", job, key), what: "there is nothing to verify"}
}

// notHeld says how a target differs from what was published.
func notHeld(h pipeline.Held) error {
	text := fmt.Sprintf("%s is not what %s published: %d of its %s are there, %d gone, %d are not of the run", targetName(h.Target), named(h.Run),
		h.Kept, plural(len(h.Published.Files), "file"), h.Gone, h.Added)
	if h.Published.Location != h.Now.Location {
		text += fmt.Sprintf("; its location is %q, it was %q", h.Now.Location, h.Published.Location)
	}
	return &failure{err: pipeline.ErrMismatch, text: text, run: h.Run.ID.String(), what: "somebody changed the target after it was verified",
		hint: "find out who; to load it anew: " + runAgain(h.Run).command}
}

func bytesOf(e publish.Evidence) (n int64) {
	for _, f := range e.Files {
		n += f.Size
	}
	return n
}

// heldJSON is the document of verify.
type heldJSON struct {
	Schema    string           `json:"schema"`
	Run       runJSON          `json:"run"`
	Holds     bool             `json:"holds"`
	Kept      int              `json:"files_kept"`
	Gone      int              `json:"files_gone"`
	Added     int              `json:"files_added"`
	Published publish.Evidence `json:"published"`
	Now       publish.Evidence `json:"now"`
}

func heldOf(h pipeline.Held) heldJSON {
	return heldJSON{Schema, runOf(h.Run), h.Holds(), h.Kept, h.Gone, h.Added, h.Published, h.Now}
}
