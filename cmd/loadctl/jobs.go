package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/config"
)

func (a *app) jobsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "jobs",
		Short: "List the configured jobs",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.jobs() },
	}
}

// jobJSON is a job in the document of jobs.
type jobJSON struct {
	Job       string            `json:"job"`
	Source    string            `json:"source"`
	Table     string            `json:"table"`
	Target    string            `json:"target"`
	Partition map[string]string `json:"partition,omitempty"` // templates
	Split     string            `json:"split"`
	Timezone  string            `json:"timezone"`
}

func (a *app) jobs() error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	jobs := []jobJSON{}
	for _, name := range cfg.JobNames() {
		jobs = append(jobs, jobOf(cfg.Jobs[name]))
	}
	if a.json() {
		return a.printJSON(struct {
			Schema string    `json:"schema"`
			Jobs   []jobJSON `json:"jobs"`
		}{Schema, jobs})
	}
	t := &table{}
	t.add("JOB", "SOURCE", "SPLIT", "TARGET", "DAY BEGINS IN")
	for i, j := range jobs {
		t.add(j.Job, j.Table+"@"+j.Source, j.Split, targetText(cfg.Jobs[cfg.JobNames()[i]]), j.Timezone)
	}
	for _, l := range t.lines() {
		a.say("%s", l)
	}
	return nil
}

func jobOf(j config.Job) jobJSON {
	out := jobJSON{
		Job: string(j.Name), Source: j.Source.Name, Table: j.Source.Table.String(), Target: j.Target.Table.String(),
		Split: splitText(j.Split), Timezone: j.Timezone.Location().String(),
	}
	for _, p := range j.Target.Partition {
		if out.Partition == nil {
			out.Partition = map[string]string{}
		}
		out.Partition[p.Column] = p.Value.String()
	}
	return out
}

func splitText(s config.Split) string {
	if s.Strategy == config.SplitSingle {
		return string(s.Strategy)
	}
	return fmt.Sprintf("%s(%s) × %d", s.Strategy, s.Column, s.Partitions)
}

// targetText is a target as its path: lake.insp_dtl/load_date={date}.
func targetText(j config.Job) string {
	parts := []string{j.Target.Table.String()}
	for _, p := range j.Target.Partition {
		parts = append(parts, p.Column+"="+p.Value.String())
	}
	return strings.Join(parts, "/")
}
