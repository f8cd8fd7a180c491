package main

import (
	"time"

	"github.com/loadctl/loadctl/ledger"
)

// runJSON is a run in every document and message.
type runJSON struct {
	ID            string `json:"id"`
	Handle        string `json:"handle"`
	Job           string `json:"job"`
	BusinessKey   string `json:"business_key"`
	Number        int    `json:"number"` // of the runs of this job and key
	Seq           int    `json:"seq"`    // position in the run's history
	State         string `json:"state"`
	Active        bool   `json:"active"`
	Since         string `json:"since"` // in State
	SCN           string `json:"scn,omitempty"`
	Target        string `json:"target"`
	CreatedAt     string `json:"created_at"`
	CreatedBy     string `json:"created_by"`
	Class         string `json:"class,omitempty"`
	Message       string `json:"message,omitempty"`
	TargetOutcome string `json:"target_outcome,omitempty"`
	TargetDamaged bool   `json:"target_damaged,omitempty"`
	Partitions    int    `json:"partitions"`
	Done          int    `json:"partitions_done"`
	RowsDone      int64  `json:"rows_done"`
	RowsTotal     int64  `json:"rows_total"`
	Chunks        int    `json:"chunks"`
	Bytes         int64  `json:"bytes"`
	Retries       int    `json:"retries"`
	Strategy      string `json:"strategy,omitempty"`
}

func runOf(r ledger.Run) runJSON {
	return runJSON{
		ID: r.ID.String(), Handle: r.Handle(), Job: r.Job, BusinessKey: r.Key, Number: r.Number, Seq: r.Seq,
		State: string(r.State), Active: r.State.Active(), Since: stamp(r.Since), SCN: r.SCN, Target: r.TargetID,
		CreatedAt: stamp(r.CreatedAt), CreatedBy: r.CreatedBy, Class: r.Class, Message: r.Message,
		TargetOutcome: r.TargetOutcome, TargetDamaged: r.TargetDamaged, Partitions: r.Partitions, Done: r.PartitionsDone,
		RowsDone: r.RowsDone, RowsTotal: r.ExpectedRows, Chunks: r.Chunks, Bytes: r.Bytes, Retries: r.Retries, Strategy: r.Strategy,
	}
}

// messageJSON is one line of run and wait.
type messageJSON struct {
	Schema        string            `json:"schema"`
	MessageType   string            `json:"message_type"` // status, boundary or summary
	Boundary      ledger.Boundary   `json:"boundary,omitempty"`
	At            string            `json:"at"`
	Run           runJSON           `json:"run"`
	Boundaries    map[string]string `json:"boundaries"`
	RowsDone      int64             `json:"rows_done"`
	RowsTotal     int64             `json:"rows_total"`
	RowsPerSecond float64           `json:"rows_per_second,omitempty"`
	SecondsLeft   float64           `json:"seconds_remaining,omitempty"`
	Metrics       *metricCount      `json:"metrics,omitempty"`
}

func messageOf(kind string, s sight, perSecond float64) messageJSON {
	return messageJSON{
		Schema: Schema, MessageType: kind, At: stamp(s.at), Run: runOf(s.run), Boundaries: boundariesOf(s.ladder),
		RowsDone: s.run.RowsDone, RowsTotal: s.run.ExpectedRows, RowsPerSecond: perSecond,
		SecondsLeft: remaining(s.run, perSecond).Seconds(),
	}
}

func boundariesOf(ladder []ledger.Reached) map[string]string {
	out := make(map[string]string, len(ladder))
	for _, r := range ladder {
		out[string(r.Boundary)] = stamp(r.At)
	}
	return out
}

// jsonDisplay prints messages, one a line: each boundary, and the status at the pace of the line display.
type jsonDisplay struct {
	lineDisplay
}

func (d *jsonDisplay) update(s sight) {
	d.speed = d.rate.add(s.at, s.run.RowsDone)
	if d.last.IsZero() {
		d.last = s.at
		if !d.fresh {
			d.told = len(s.ladder)
			d.status(s)
		}
	}
	for ; d.told < len(s.ladder); d.told++ {
		m := messageOf("boundary", s, d.speed)
		m.Boundary, m.At = s.ladder[d.told].Boundary, stamp(s.ladder[d.told].At)
		writeLine(d.a.Out, m)
		d.last = s.at
	}
	if d.every > 0 && s.at.Sub(d.last) >= d.every && !s.over() {
		d.status(s)
	}
}

// status is silenced by quiet; boundaries are not.
func (d *jsonDisplay) status(s sight) {
	d.last = s.at
	if !d.a.quiet {
		writeLine(d.a.Out, messageOf("status", s, d.speed))
	}
}

func (d *jsonDisplay) tell(s sight) {
	if s.run.State != "" {
		writeLine(d.a.Out, messageOf("status", s, d.speed))
	}
}

// display chooses how a run is shown: messages, nothing, a block on a terminal, or lines.
func (a *app) display(fresh bool, every time.Duration, until ledger.Boundary) display {
	line := lineDisplay{a: a, fresh: fresh, every: every, until: until}
	switch _, terminal := terminalWidth(a.Err); {
	case a.json():
		return &jsonDisplay{line}
	case a.quiet:
		return &quietDisplay{line}
	case terminal && a.Getenv("TERM") != "dumb":
		return &blockDisplay{line}
	}
	return &line
}
