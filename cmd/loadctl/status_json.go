package main

import (
	"encoding/json"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

// statusJSON is the document of status. Values of metrics are text: sums exceed what a JSON number can hold.
type statusJSON struct {
	Schema     string            `json:"schema"`
	Run        runJSON           `json:"run"`
	Boundaries map[string]string `json:"boundaries"`
	Metrics    []metricJSON      `json:"metrics"`
	Partitions []partitionJSON   `json:"partitions"`
	Chunks     []chunkJSON       `json:"chunks"`
	Publish    []publishJSON     `json:"publish"`
	GivenUp    *eventJSON        `json:"given_up,omitempty"` // the step that the run waits for was given up
}

type metricJSON struct {
	Column string                   `json:"column,omitempty"`
	Name   string                   `json:"name"`
	Values map[ledger.Stage]*string `json:"values"` // by stage; null: the side says NULL
	Equal  *bool                    `json:"equal"`  // null: only one side has measured it
}

type partitionJSON struct {
	Index    int    `json:"index"`
	Display  string `json:"display"`
	State    string `json:"state"`
	Expected *int64 `json:"expected"`
	Rows     int64  `json:"rows"`
	Chunks   int    `json:"chunks"`
	Bytes    int64  `json:"bytes"`
	Attempts int    `json:"attempts"`
	Worker   string `json:"worker,omitempty"`
	Class    string `json:"class,omitempty"`
	Message  string `json:"message,omitempty"`
	EndedAt  string `json:"ended_at,omitempty"`
}

type chunkJSON struct {
	Partition int    `json:"partition"`
	Index     int    `json:"index"`
	Path      string `json:"path"`
	Rows      int64  `json:"rows"`
	Bytes     int64  `json:"bytes"`
	Digest    string `json:"digest"`
}

type publishJSON struct {
	Attempt     int    `json:"attempt"`
	ClaimedAt   string `json:"claimed_at"`
	ClaimedBy   string `json:"claimed_by"`
	ArmedAt     string `json:"armed_at,omitempty"`
	EndedAt     string `json:"ended_at,omitempty"`
	Outcome     string `json:"outcome,omitempty"`
	Instance    string `json:"instance,omitempty"`
	QueryID     string `json:"query_id,omitempty"`
	Tag         string `json:"tag,omitempty"`
	RowsWritten *int64 `json:"rows_written"`

	Mark       *int            `json:"mark,omitempty"` // known by this mark in the store only: the ledger had lost it
	FencedAt   string          `json:"fenced_at,omitempty"`
	Fence      json.RawMessage `json:"fence,omitempty"` // how, or why not
	Verdict    ledger.Verdict  `json:"verdict,omitempty"`
	VerdictAt  string          `json:"verdict_at,omitempty"`
	JudgedBy   json.RawMessage `json:"judged_by,omitempty"` // reason, and the target before and after
	ResolvedAs string          `json:"resolved_as,omitempty"`
	ResolvedAt string          `json:"resolved_at,omitempty"`
	ResolvedBy string          `json:"resolved_by,omitempty"`
	Reason     string          `json:"reason,omitempty"`
}

func statusOf(e evidenceOf) statusJSON {
	out := statusJSON{
		Schema: Schema, Run: runOf(e.run), Boundaries: boundariesOf(e.ladder),
		Metrics: []metricJSON{}, Partitions: []partitionJSON{}, Chunks: []chunkJSON{}, Publish: []publishJSON{},
	}
	if e.buried != nil {
		given := eventOf(*e.buried)
		out.GivenUp = &given
	}
	for _, r := range sideBySide(e.measured) {
		m := metricJSON{Column: r.Column, Name: r.Name, Values: r.Values}
		if v := r.verdict(); v != "" {
			equal := v == "✓"
			m.Equal = &equal
		}
		out.Metrics = append(out.Metrics, m)
	}
	for _, p := range e.partitions {
		out.Partitions = append(out.Partitions, partitionOf(p))
	}
	for _, c := range e.chunks {
		out.Chunks = append(out.Chunks, chunkJSON{c.Partition, c.Index, chunkPath(e.run, c), c.Rows, c.Bytes, c.Digest})
	}
	for _, p := range e.attempts {
		out.Publish = append(out.Publish, publishOf(p))
	}
	return out
}

func publishOf(p ledger.Attempt) publishJSON {
	return publishJSON{
		Attempt: p.Number, ClaimedAt: stamp(p.ClaimedAt), ClaimedBy: p.ClaimedBy, ArmedAt: orNoStamp(p.ArmedAt),
		EndedAt: orNoStamp(p.EndedAt), Outcome: p.Outcome, Instance: p.Instance, QueryID: p.QueryID, Tag: p.Tag, RowsWritten: p.RowsWritten,
		Mark: p.Mark, FencedAt: orNoStamp(p.FencedAt), Fence: p.Fence, Verdict: p.Verdict, VerdictAt: orNoStamp(p.VerdictAt), JudgedBy: p.JudgedBy,
		ResolvedAs: string(p.ResolvedAs), ResolvedAt: orNoStamp(p.ResolvedAt), ResolvedBy: p.ResolvedBy, Reason: p.Reason,
	}
}

func partitionOf(p ledger.Partition) partitionJSON {
	rows := p.RowsSoFar
	if p.FinishedAt != nil {
		rows = p.Rows
	}
	return partitionJSON{
		Index: p.Index, Display: p.Display, State: string(p.State), Expected: p.Expected, Rows: rows, Chunks: p.Chunks, Bytes: p.Bytes,
		Attempts: p.Attempts, Worker: p.Worker, Class: p.Class, Message: p.Message, EndedAt: orNoStamp(p.EndedAt),
	}
}

func orNoStamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return stamp(*t)
}
