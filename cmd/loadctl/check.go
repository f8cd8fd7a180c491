package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/config"
)

const checkExample = `  loadctl check                            files and secrets; asks nobody
  loadctl check --job INSP_DTL --connect   and ask ledger, source, store and warehouse of that job`

func (a *app) checkCommand() *cobra.Command {
	var job string
	var connect bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration; with --connect also what it leads to",
		Long: "Check reads the daemon file, every job file and every secret, and says all that is wrong. It asks nobody, so that it\n" +
			"can run anywhere. With --connect it also logs in to the ledger and looks at source table, store and target of the\n" +
			"jobs, as a run does before it is made. Nothing is changed.",
		Example: checkExample,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.check(cmd.Context(), job, connect) },
	}
	cmd.Flags().StringVar(&job, "job", "", "only this job")
	cmd.Flags().BoolVar(&connect, "connect", false, "also ask ledger, source, store and warehouse")
	return cmd
}

// checkJSON is the document of check.
type checkJSON struct {
	Schema string       `json:"schema"`
	OK     bool         `json:"ok"`
	Checks []checkedOne `json:"checks"`
}

// checkedOne is one thing that was checked.
type checkedOne struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warning, failed or skipped
	Detail string `json:"detail"`
	Class  string `json:"class,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// checks gathers what was checked, and the first error, which decides the exit code.
type checks struct {
	all   []checkedOne
	first error
}

func (c *checks) add(name, status, detail string) {
	c.all = append(c.all, checkedOne{Name: name, Status: status, Detail: detail})
}

// verdict adds an ok or, for an error, a failure.
func (c *checks) verdict(name, detail string, err error) bool {
	if err == nil {
		c.add(name, "ok", detail)
		return true
	}
	e := describe(err)
	c.all = append(c.all, checkedOne{Name: name, Status: "failed", Detail: e.Message, Class: e.Class, Hint: e.Hint})
	if c.first == nil {
		c.first = err
	}
	return false
}

func (a *app) check(ctx context.Context, job string, connect bool) error {
	cfg, err := config.Load(a.configFile)
	if err != nil {
		return configError(err)
	}
	names := cfg.JobNames()
	if job != "" {
		if _, err := cfg.Job(job); err != nil {
			return withHint(usage("%v", err), "loadctl jobs lists them")
		}
		names = []string{job}
	}
	var c checks
	c.add("config", "ok", fmt.Sprintf("%s and %s", a.configFile, plural(len(cfg.Jobs), "job")))
	for _, w := range cfg.Warnings {
		c.add("config", "warning", w.String())
	}
	a.checkSecrets(cfg, &c)
	for _, name := range names {
		c.add("job "+name, "ok", jobSummary(cfg.Jobs[name]))
	}
	if connect {
		a.checkConnections(ctx, cfg, names, &c)
	} else {
		c.add("connections", "skipped", "not asked; --connect asks them")
	}
	return a.printChecks(c)
}

func jobSummary(j config.Job) string {
	return fmt.Sprintf("%s@%s → %s, split %s", j.Source.Table, j.Source.Name, targetText(j), splitText(j.Split))
}

func (a *app) checkSecrets(cfg *config.Config, c *checks) {
	warnings, err := cfg.CheckSecrets()
	if err != nil {
		err = usage("%v", err)
	}
	if c.verdict("secrets", "every reference leads to a secret", err) {
		for _, w := range warnings {
			c.add("secrets", "warning", w.String())
		}
	}
}

// checkConnections asks everybody, and says what was not asked because of something else.
func (a *app) checkConnections(ctx context.Context, cfg *config.Config, names []string, c *checks) {
	l, err := wire.Ledger(ctx, cfg, a.logger())
	if c.verdict("ledger", ledgerText(cfg.Daemon.Ledger), err) {
		defer l.Close()
	}
	env, closeEnv, err := wire.Env(ctx, cfg, l, a.logger())
	if err != nil {
		c.verdict("parts", "", err)
		return
	}
	defer func() { err = errors.Join(err, closeEnv()) }()
	today := a.now()
	for _, name := range names {
		r, err := resolve(cfg, name, "today", today)
		if err == nil {
			err = env.Preflight(ctx, wire.Job(r, cfg))
		}
		c.verdict("parts of "+name, "source table, store and target answer as the job needs them", err)
	}
}

func ledgerText(l config.Ledger) string {
	return fmt.Sprintf("%s@%s:%d/%s answers, its schema fits", l.User, l.Host, l.Port, l.Database)
}

func (a *app) printChecks(c checks) error {
	if a.json() {
		if err := a.printJSON(checkJSON{Schema: Schema, OK: c.first == nil, Checks: c.all}); err != nil {
			return err
		}
	} else {
		a.printCheckTable(c.all)
	}
	if c.first == nil {
		return nil
	}
	failed := 0
	for _, one := range c.all {
		if one.Status == "failed" {
			failed++
		}
	}
	return &failure{err: c.first, text: fmt.Sprintf("%s of %d failed: see above", plural(failed, "check"), len(c.all))}
}

func (a *app) printCheckTable(all []checkedOne) {
	signs := map[string]look{"ok": {"✓", "32"}, "warning": {"!", "33"}, "failed": {"✗", "31"}, "skipped": {"-", "2"}}
	t := &table{}
	for _, one := range all {
		l := signs[one.Status]
		for i, line := range strings.Split(one.Detail, "\n") {
			if i == 0 {
				t.add(a.paint(l.color, l.sign+" "+one.Status), one.Name, line)
			} else {
				t.add("", "", line)
			}
		}
		if one.Hint != "" && one.Status == "failed" {
			t.add("", "", "hint: "+one.Hint)
		}
	}
	for _, l := range t.lines() {
		a.say("%s", l)
	}
}
