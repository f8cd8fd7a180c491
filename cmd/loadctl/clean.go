package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

const cleanExample = `  loadctl clean --dry-run                          whose staged files have been kept long enough?
  loadctl clean --reason "store is filling up"     delete them, after a question`

// cleanFlags say what to delete.
type cleanFlags struct {
	dry    bool
	reason string
	consent
}

func (a *app) cleanCommand() *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean [--dry-run]",
		Short: "Delete staged files that have been kept long enough",
		Long: "Clean deletes the staged files of runs that ended longer ago than retention says; loadd does so by itself, hourly. It\n" +
			"never touches a run that is active or undecided, one whose target is damaged, a directory that a table or partition\n" +
			"points at, or a directory that is not loadctl's own. If the warehouse does not answer, nothing is deleted.",
		Example: cleanExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.dry {
				if err := reasoned(f.reason); err != nil {
					return err
				}
			}
			cfg, err := a.load()
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), cfg, func(env *pipeline.Env) error { return a.clean(cmd.Context(), env, f) })
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.dry, "dry-run", false, "list them and delete nothing")
	fs.StringVar(&f.reason, "reason", "", "why; kept with each run")
	f.flags(fs)
	return cmd
}

func (a *app) clean(ctx context.Context, env *pipeline.Env, f cleanFlags) error {
	runs, err := env.Ledger.Cleanable(ctx, env.Recovery.Keep, pipeline.CleanAtOnce)
	if err != nil {
		return err
	}
	if f.dry || len(runs) == 0 {
		return a.printCleanable(runs)
	}
	if !a.json() && !f.yes {
		a.printRuns(runs)
	}
	word := fmt.Sprint(len(runs))
	if len(runs) == 1 {
		word = runs[0].Handle()
	}
	if err := a.typed(ctx, f.consent, fmt.Sprintf("Delete the staged files of %s?", plural(len(runs), "run")), word); err != nil {
		return err
	}
	cleaned, err := env.CleanRuns(ctx, runs, f.reason)
	return errors.Join(a.printCleaned(cleaned), err)
}

// printCleanable says what would be deleted.
func (a *app) printCleanable(runs []ledger.Run) error {
	if a.json() {
		doc := cleanJSON{Schema: Schema, Runs: []cleanedJSON{}}
		for _, r := range runs {
			doc.Runs = append(doc.Runs, cleanedJSON{Run: runOf(r)})
		}
		return a.printJSON(doc)
	}
	if len(runs) == 0 {
		a.say("nothing to delete: no run ended longer ago than retention says and still has staged files")
		return nil
	}
	a.printRuns(runs)
	a.note("%s; nothing was deleted%s", plural(len(runs), "run"), moreToClean(len(runs)))
	return nil
}

// moreToClean says that one call does not show all.
func moreToClean(n int) string {
	if n < pipeline.CleanAtOnce {
		return ""
	}
	return "; there may be more: those that ended first come first"
}

// cleanJSON is the document of clean.
type cleanJSON struct {
	Schema string        `json:"schema"`
	Runs   []cleanedJSON `json:"runs"`
}

type cleanedJSON struct {
	Run     runJSON `json:"run"`
	Deleted bool    `json:"deleted"`
	Kept    string  `json:"kept,omitempty"` // why its files are still there
}

func (a *app) printCleaned(all []pipeline.CleanedRun) error {
	if a.json() {
		doc := cleanJSON{Schema: Schema, Runs: []cleanedJSON{}}
		for _, c := range all {
			doc.Runs = append(doc.Runs, cleanedJSON{runOf(c.Run), c.Kept == "", c.Kept})
		}
		return a.printJSON(doc)
	}
	t := &table{}
	for _, c := range all {
		if c.Kept == "" {
			t.add(c.Run.Handle(), c.Run.Short(), "deleted")
		} else {
			t.add(c.Run.Handle(), c.Run.Short(), "kept: "+c.Kept)
		}
	}
	for _, l := range t.lines() {
		a.say("%s", l)
	}
	a.note("%s looked at%s", plural(len(all), "run"), moreToClean(len(all)))
	return nil
}
