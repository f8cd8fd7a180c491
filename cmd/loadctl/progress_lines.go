package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

// lineDisplay tells of a run in a log: a line at the start, one at each boundary, and one from time to time.
type lineDisplay struct {
	a     *app
	fresh bool          // the run was made by this command: its boundaries are all told
	every time.Duration // between lines that tell of progress; 0: boundaries only
	until ledger.Boundary

	told  int // boundaries
	last  time.Time
	state ledger.State
	rate  rate
	speed float64
}

func (d *lineDisplay) update(s sight) {
	d.speed = d.rate.add(s.at, s.run.RowsDone)
	if d.state == "" && !d.fresh {
		d.a.note("%s %s %s is %s since %s", clockTime(s.at), s.run.Handle(), s.run.Short(), s.run.State, clockTime(s.run.Since))
		d.told = len(s.ladder)
	}
	for d.told < len(s.ladder) {
		d.boundary(s)
		d.told++
	}
	if d.last.IsZero() {
		d.last = s.at
	}
	if d.every > 0 && s.at.Sub(d.last) >= d.every && !s.over() {
		d.a.note("%s", d.line(s))
		d.last = s.at
	}
	d.state = s.run.State
}

// boundary tells of the next boundary on the ladder. The one that ends the command is its result, on stdout.
func (d *lineDisplay) boundary(s sight) {
	r := s.ladder[d.told]
	d.last = s.at
	if r.Boundary == d.until {
		return
	}
	text := fmt.Sprintf("%s %-10s %s", clockTime(r.At), r.Boundary, evidence(s, d.told))
	if r.Boundary == ledger.Accepted {
		text = fmt.Sprintf("%s %s %s accepted", clockTime(r.At), s.run.Handle(), s.run.Short())
	}
	d.a.note("%s", strings.TrimRight(text, " "))
}

// evidence is what a log should keep of the nth boundary.
func evidence(s sight, n int) string {
	switch s.ladder[n].Boundary {
	case ledger.Planned:
		return fmt.Sprintf("scn=%s partitions=%d rows=%d strategy=%s", s.run.SCN, s.run.Partitions, s.run.ExpectedRows, s.run.Strategy)
	case ledger.Extracted:
		return fmt.Sprintf("rows=%d bytes=%d chunks=%d", s.run.RowsDone, s.run.Bytes, s.run.Chunks)
	}
	if n == 0 {
		return ""
	}
	return "took=" + s.ladder[n].At.Sub(s.ladder[n-1].At).Round(100*time.Millisecond).String()
}

func (d *lineDisplay) tell(s sight) {
	if s.run.State != "" { // nothing was seen yet otherwise
		d.a.line("%s", d.line(s))
	}
}

func (d *lineDisplay) close() {}

// line says how far a run is.
func (d *lineDisplay) line(s sight) string {
	head := clockTime(s.at) + " "
	if s.run.State != ledger.Extracting {
		return head + fmt.Sprintf("%-10s for=%s", doing(s.run.State), s.at.Sub(s.run.Since).Round(time.Second))
	}
	text := fmt.Sprintf("extracting %s rows=%d", percent(s.run.RowsDone, s.run.ExpectedRows), s.run.RowsDone)
	if d.speed > 0 {
		text += " rate=" + strings.ReplaceAll(about(d.speed), " ", "") + "/s"
	}
	if eta := remaining(s.run, d.speed); eta > 0 {
		text += " eta=" + eta.Round(time.Second).String()
	}
	return head + text + fmt.Sprintf(" retries=%d", s.run.Retries)
}

// doing is what happens in a state, as a word.
func doing(s ledger.State) string {
	switch s {
	case ledger.Created:
		return "planning"
	case ledger.Extracting:
		return "extracting"
	case ledger.ExtractedValidated, ledger.StageValidating:
		return "staging"
	case ledger.StagingValidated, ledger.Publishing:
		return "publishing"
	case ledger.Published:
		return "verifying"
	case ledger.PublishUnknown:
		return "undecided"
	}
	return "over"
}

func percent(part, whole int64) string {
	if whole <= 0 {
		return "100%"
	}
	return fmt.Sprintf("%d%%", min(part*100/whole, 100))
}

// quietDisplay says nothing until it is asked.
type quietDisplay struct{ lineDisplay }

func (d *quietDisplay) update(s sight) { d.speed = d.rate.add(s.at, s.run.RowsDone) }
