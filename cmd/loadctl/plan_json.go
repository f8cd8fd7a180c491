package main

import (
	"github.com/loadctl/loadctl/extract"
	"github.com/loadctl/loadctl/pipeline"
)

// planJSON is the document of plan.
type planJSON struct {
	Schema      string              `json:"schema"`
	Go          bool                `json:"go"`
	Job         string              `json:"job"`
	BusinessKey string              `json:"business_key"`
	SCN         string              `json:"scn"`
	SCNTime     string              `json:"scn_time,omitempty"`
	Source      sourceJSON          `json:"source"`
	Strategy    string              `json:"strategy"`
	Reason      string              `json:"reason"`
	Rows        int64               `json:"rows"`
	Slices      []sliceJSON         `json:"slices"`
	Target      targetJSON          `json:"target"`
	Columns     []columnJSON        `json:"columns"`
	Metrics     []extract.Metric    `json:"metrics"` // of the whole, by the source
	Statements  statementsJSON      `json:"statements"`
	Refused     *exitError          `json:"refused,omitempty"` // why not to go
	Identities  pipeline.Identities `json:"identities"`
}

type sourceJSON struct {
	Name  string `json:"name"`
	Table string `json:"table"`
	Where string `json:"where,omitempty"`
}

type sliceJSON struct {
	Index   int    `json:"index"`
	Display string `json:"display"`
	Rows    int64  `json:"rows"`
}

type targetJSON struct {
	Name   string `json:"name"`
	ID     string `json:"id"`
	Create bool   `json:"create"` // the table is missing and will be made
}

type columnJSON struct {
	Source   string `json:"source"`
	Declared string `json:"declared"`
	Name     string `json:"name"` // from the files on
	Type     string `json:"type"`
}

type statementsJSON struct {
	Source    []string `json:"source"`
	Warehouse []string `json:"warehouse"`
}

func planOf(p planned) planJSON {
	out := planJSON{
		Schema: Schema, Go: p.noGo == nil, Job: p.job.Name, BusinessKey: p.job.Key, SCN: p.Snapshot.SCN, SCNTime: p.Snapshot.Time,
		Source: sourceJSON{p.job.Source, tableText(p.Query.Table.Name), p.Query.Where}, Strategy: p.Strategy, Reason: p.Reason,
		Rows: p.Manifest.Rows, Target: targetJSON{targetName(p.Target), p.job.TargetID, p.Create}, Metrics: p.Manifest.Total,
		Statements: statementsJSON{p.source, p.warehouse}, Identities: p.Identities,
	}
	for _, s := range p.Manifest.Slices {
		out.Slices = append(out.Slices, sliceJSON{s.Slice.ID, pipeline.Display(s.Slice), s.Rows})
	}
	for i, c := range p.Columns {
		out.Columns = append(out.Columns, columnJSON{c.Source, p.Query.Table.Columns[i].Declared, c.Name, c.Type.String()})
	}
	if p.noGo != nil {
		e := describe(p.noGo)
		out.Refused = &e
	}
	return out
}
