package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

const statusExample = `  loadctl status INSP_DTL/2026-09-28     the newest run of that date
  loadctl status INSP_DTL/2026-09-28#2   the second one
  loadctl status 7be13d                  by the end of its id
  loadctl status latest --output json    for a program`

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "status RUN",
		Short:             "Show a run: how far it is, and the evidence",
		Example:           statusExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.status(cmd.Context(), args[0]) },
	}
}

// evidenceOf is all that the ledger holds of a run, for people.
type evidenceOf struct {
	sight
	chunks   []ledger.File
	measured []ledger.Measured
	attempts []ledger.Attempt
	buried   *ledger.Entry // the step that the run waits for was given up; nil: it was not
}

func (a *app) status(ctx context.Context, ref string) error {
	l, run, err := a.find(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	e, err := a.evidence(ctx, l, run)
	if err != nil {
		return err
	}
	if a.json() {
		return a.printJSON(statusOf(e))
	}
	a.say("%s", a.statusHead(e.sight))
	a.say("  %s", a.ladderLine(e.sight))
	a.say("  %s", countsLine(e))
	if e.run.Message != "" {
		a.say("  why: %s%s", e.run.Message, bracketed(e.run.Class))
	}
	if e.run.TargetDamaged {
		a.say("  %s by a publish of this run, until a run of %s succeeds", a.paint("31", "target damaged"), e.run.Key)
	}
	if e.buried != nil {
		a.say("  given up: %s%s", e.buried.Message, bracketed(e.buried.Class))
	}
	a.tables(e)
	a.printAttempts(e.attempts)
	if n := nextFor(e); len(n) > 0 {
		a.say("")
		a.printNext("  next  ", n)
	}
	return nil
}

// printAttempts says of each publish in doubt how it was shut out, what was found, and what was decided.
func (a *app) printAttempts(all []ledger.Attempt) {
	for _, p := range all {
		head := fmt.Sprintf("  publish %d", p.Number)
		if p.Mark != nil {
			a.say("%s  known by mark %d in the store only: the ledger had lost it", head, *p.Mark)
		}
		if how := fenceWords(p); how != "" {
			a.say("%s  %s", head, how)
		}
		if p.Verdict != "" {
			a.say("%s  verdict %s", head, verdictWords(p))
		}
		if p.ResolvedAs != "" {
			a.say("%s  resolved as %s at %s by %s: %s", head, p.ResolvedAs, orDash(p.ResolvedAt), p.ResolvedBy, p.Reason)
		}
	}
}

// fenceWords says how an attempt was shut out, or that it was tried in vain.
func fenceWords(p ledger.Attempt) string {
	var fence struct{ How string }
	if len(p.Fence) > 0 {
		if err := json.Unmarshal(p.Fence, &fence); err != nil {
			fence.How = string(p.Fence)
		}
	}
	switch {
	case p.FencedAt != nil:
		return "fenced at " + clockTime(*p.FencedAt) + ": " + orElse(fence.How, "nothing of it can land any more")
	case fence.How != "":
		return "NOT fenced: " + fence.How
	}
	return ""
}

// nextFor is what moves a run that does not move by itself.
func nextFor(s evidenceOf) []next {
	switch {
	case s.buried != nil:
		return []next{{"loadctl resend " + s.run.Short(), "once the cause is gone: its step is tried again"}}
	case s.run.State == ledger.PublishUnknown:
		return []next{{"loadctl reconcile " + s.run.Short(), "finds out what its publish did"}}
	case !s.run.State.Active() || beingDone(s.run, s.partitions, s.at):
		return nil
	}
	return []next{{"loadctl resume " + s.run.Short(), "nobody works on it now; any loadd that is up will"}}
}

// beingDone says whether somebody who was heard of in time works on a run.
func beingDone(r ledger.Run, all []ledger.Partition, now time.Time) bool {
	if r.StepOwner != "" && r.StepLeaseUntil.After(now) {
		return true
	}
	return slices.ContainsFunc(all, func(p ledger.Partition) bool {
		return p.State == ledger.PartitionRunning && p.LeaseUntil != nil && p.LeaseUntil.After(now)
	})
}

func (a *app) evidence(ctx context.Context, l *ledger.Ledger, run ledger.Run) (e evidenceOf, err error) {
	if e.sight, err = a.look(ctx, l, run.ID); err != nil {
		return e, err
	}
	if e.chunks, err = l.Files(ctx, run.ID); err != nil {
		return e, err
	}
	if e.measured, err = l.Validations(ctx, run.ID); err != nil {
		return e, err
	}
	if e.attempts, err = l.Attempts(ctx, run.ID); err != nil || !run.State.Active() {
		return e, err
	}
	e.buried, err = buried(ctx, l, run)
	return e, err
}

// buried finds whether the step that a run waits for was given up.
func buried(ctx context.Context, l *ledger.Ledger, run ledger.Run) (*ledger.Entry, error) {
	entries, err := l.Events(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Kind == ledger.KindState || e.Code == ledger.CodeResent:
			return nil, nil
		case e.Code == ledger.CodeDispatchDead:
			return &e, nil
		}
	}
	return nil, nil
}

func bracketed(class string) string {
	if class == "" {
		return ""
	}
	return "   [" + class + "]"
}

func (a *app) statusHead(s sight) string {
	r := s.run
	text := fmt.Sprintf("%s  %s  %s  ", r.Handle(), r.Short(), a.stateText(r.State))
	if s.over() && !r.State.Active() {
		text += "took " + minutes(r.Since.Sub(r.CreatedAt))
	} else {
		text += "for " + ago(s.at.Sub(r.Since))
	}
	if r.SCN != "" {
		text += "   scn " + r.SCN + snapshotTime(r)
	}
	return text + "   by " + r.CreatedBy
}

// snapshotTime is when the SCN was, by the source's own clock, where the source told it.
func snapshotTime(r ledger.Run) string {
	var plan pipeline.Spec
	if err := json.Unmarshal(r.PlanDetail, &plan); err != nil {
		return "" // not planned yet, or by a newer program
	}
	at, err := time.Parse(time.RFC3339, plan.Snapshot.Time)
	if err != nil {
		return ""
	}
	return " (" + at.Local().Format("2006-01-02 15:04:05 -07:00") + ")"
}

// ladderLine shows which boundaries were reached, when, and which was not.
func (a *app) ladderLine(s sight) string {
	var parts []string
	open := true // the next rung that is not reached is where the run is, or ended
	for _, b := range ledger.Boundaries {
		r, ok := s.reached(b)
		switch {
		case ok:
			parts = append(parts, a.paint("32", "✓")+" "+string(b)+" "+clockTime(r.At))
		case open:
			l := lookOf(s.run.State)
			if s.run.State.Active() && s.run.State != ledger.PublishUnknown {
				l.sign = "▶"
			}
			parts, open = append(parts, a.paint(l.color, l.sign)+" "+string(b)), false
		default:
			parts = append(parts, "· "+string(b))
		}
	}
	return strings.Join(parts, "   ")
}

func countsLine(e evidenceOf) string {
	r := e.run
	text := fmt.Sprintf("partitions %d/%d", r.PartitionsDone, r.Partitions)
	if empty := emptyPartitions(e.partitions); empty != "" {
		text += " (" + empty + " empty)"
	}
	text += "   rows " + count(r.RowsDone)
	if r.RowsDone != r.ExpectedRows {
		text += " of " + count(r.ExpectedRows)
	}
	text += fmt.Sprintf("   chunks %d   bytes %s   retries %d", r.Chunks, size(r.Bytes), r.Retries)
	if r.PublishAttempt > 0 {
		text += fmt.Sprintf("   publish attempt %d", r.PublishAttempt)
	}
	return text
}

func emptyPartitions(all []ledger.Partition) string {
	var names []string
	for _, p := range all {
		if p.Expected != nil && *p.Expected == 0 {
			names = append(names, fmt.Sprintf("p%d", p.Index))
		}
	}
	return strings.Join(names, ", ")
}

// tables prints metrics, partitions and chunks, each if there are any.
func (a *app) tables(e evidenceOf) {
	for _, t := range []*table{a.metricTable(e.measured), a.partitionTable(e), chunkTable(e), attemptTable(e.attempts)} {
		if len(t.rows) < 2 {
			continue
		}
		a.say("")
		for _, l := range t.lines() {
			a.say("  %s", l)
		}
	}
}

// metricTable compares the sides. Checksums, which nobody reads, are shown only where they differ.
func (a *app) metricTable(all []ledger.Measured) *table {
	t := &table{}
	t.add("METRIC", "SOURCE", "STREAM", "STAGING", "TARGET", "")
	for _, r := range sideBySide(all) {
		verdict := r.verdict()
		if (r.Name == ledger.MetricDigest || r.Name == ledger.MetricChecksum) && verdict != "✗" {
			continue
		}
		cells := []string{strings.TrimSpace(r.Column + " " + r.Name)}
		for _, stage := range []ledger.Stage{ledger.StageSource, ledger.StageStream, ledger.StageStaging, ledger.StageTarget} {
			cells = append(cells, valueText(r, stage))
		}
		t.add(append(cells, a.verdictText(verdict))...)
	}
	return t
}

func (a *app) verdictText(verdict string) string {
	switch verdict {
	case "✓":
		return a.paint("32", "✓ equal")
	case "✗":
		return a.paint("31", "✗ DIFFERS")
	}
	return ""
}

func valueText(r metricRow, stage ledger.Stage) string {
	v, ok := r.Values[stage]
	switch {
	case !ok:
		return "-"
	case v == nil:
		return "NULL"
	}
	return *v
}

func (a *app) partitionTable(e evidenceOf) *table {
	t := &table{right: []bool{false, false, true, true, true, true}}
	t.add("PARTITION", "RANGE", "ROWS", "EXPECTED", "CHUNKS", "ATTEMPT", "STATE", "WORKER", "WHY")
	for _, p := range e.partitions {
		rows, expected := p.RowsSoFar, "?"
		if p.FinishedAt != nil {
			rows = p.Rows
		}
		if p.Expected != nil {
			expected = count(*p.Expected)
		}
		t.add(fmt.Sprintf("p%d", p.Index), p.Display, count(rows), expected, fmt.Sprint(p.Chunks), fmt.Sprint(p.Attempts),
			a.partitionState(p), p.Worker, p.Message)
	}
	return t
}

func (a *app) partitionState(p ledger.Partition) string {
	l := map[ledger.PartitionState]look{
		ledger.PartitionPending: {"○", "2"}, ledger.PartitionRetry: {"○", "33"}, ledger.PartitionRunning: {"▶", "34"},
		ledger.PartitionSuccess: {"✓", "32"}, ledger.PartitionFailed: {"✗", "31"}, ledger.PartitionVoid: {"⊘", "2"},
	}[p.State]
	return a.paint(l.color, l.sign+" "+string(p.State))
}

func chunkTable(e evidenceOf) *table {
	t := &table{right: []bool{false, true, true}}
	t.add("CHUNK", "ROWS", "BYTES", "PATH IN THE STORE")
	for _, c := range e.chunks {
		t.add(fmt.Sprintf("p%d/%d", c.Partition, c.Index), count(c.Rows), size(c.Bytes), chunkPath(e.run, c))
	}
	return t
}

// chunkPath is where a chunk is: in its attempt's directory until the run is sealed, then in the run's.
func chunkPath(r ledger.Run, c ledger.File) string {
	if r.SealedDir == "" {
		return c.Path
	}
	return path.Join(r.SealedDir, path.Base(c.Path))
}

func attemptTable(all []ledger.Attempt) *table {
	t := &table{}
	t.add("PUBLISH", "CLAIMED", "ARMED", "ENDED", "OUTCOME", "QUERY", "ROWS WRITTEN", "BY")
	for _, p := range all {
		written := "-"
		if p.RowsWritten != nil {
			written = count(*p.RowsWritten)
		}
		t.add(fmt.Sprint(p.Number), clockTime(p.ClaimedAt), orDash(p.ArmedAt), orDash(p.EndedAt), orElse(p.Outcome, "-"),
			orElse(p.QueryID, "-"), written, p.ClaimedBy)
	}
	return t
}

func orDash(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return clockTime(*t)
}
