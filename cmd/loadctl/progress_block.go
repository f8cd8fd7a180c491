package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/loadctl/loadctl/ledger"
)

// blockDisplay draws a run on a terminal, in place.
type blockDisplay struct {
	lineDisplay // for whoever asks by signal
}

func (d *blockDisplay) update(s sight) {
	d.speed = d.rate.add(s.at, s.run.RowsDone)
	width, _ := terminalWidth(d.a.Err) // each time: windows are resized
	d.a.screen.draw(block(s, d.speed, width))
}

// close leaves what was drawn last to the result that follows.
func (d *blockDisplay) close() { d.a.screen.draw(nil) }

// Widths of the bars, in columns.
const (
	runBar       = 24
	partitionBar = 16
)

// partitionLines is how many partitions at work are shown.
const partitionLines = 6

// block is a run as lines of at most width columns.
func block(s sight, perSecond float64, width int) []string {
	r := s.run
	head := r.Handle() + "  " + r.Short()
	if r.SCN != "" {
		head += "  scn " + r.SCN
	}
	head += "  " + lookOf(r.State).sign + " " + string(r.State)
	lines := []string{head + "  " + rungs(s)}
	if cellWidth(lines[0]) > width {
		lines = []string{head, "  " + rungs(s)}
	}
	if r.Partitions > 0 {
		lines = append(lines, "  "+runLine(r, perSecond))
	} else {
		lines = append(lines, "  "+doing(r.State)+" for "+minutes(s.at.Sub(r.Since)))
	}
	lines = append(lines, atWork(s.partitions)...)
	for i := range lines {
		lines[i] = fit(lines[i], width)
	}
	return lines
}

// rungs shows the ladder: ■ reached, ▶ being worked on, · to come.
func rungs(s sight) string {
	var words []string
	next := "▶"
	for _, b := range ledger.Boundaries {
		sign := "■"
		if _, ok := s.reached(b); !ok {
			sign, next = next, "·"
		}
		words = append(words, sign+" "+string(b))
	}
	return strings.Join(words, " ")
}

func runLine(r ledger.Run, perSecond float64) string {
	text := fmt.Sprintf("%s %4s  %s / %s rows", bar(r.RowsDone, r.ExpectedRows, runBar), percent(r.RowsDone, r.ExpectedRows),
		about(float64(r.RowsDone)), about(float64(r.ExpectedRows)))
	if r.State == ledger.Extracting && perSecond > 0 {
		text += "   " + about(perSecond) + " rows/s"
	}
	text += fmt.Sprintf("   %s   %d/%d partitions", size(r.Bytes), r.PartitionsDone, r.Partitions)
	if eta := remaining(r, perSecond); eta > 0 {
		text += "   ETA " + minutes(eta)
	}
	return text
}

// atWork is a line for each partition that is being read or waits to be read again.
func atWork(all []ledger.Partition) []string {
	var lines []string
	more := 0
	for _, p := range all {
		if p.State != ledger.PartitionRunning && p.State != ledger.PartitionRetry {
			continue
		}
		if len(lines) == partitionLines {
			more++
			continue
		}
		lines = append(lines, "  "+partitionLine(p))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return lines
}

func partitionLine(p ledger.Partition) string {
	var expected int64
	if p.Expected != nil {
		expected = *p.Expected
	}
	text := fmt.Sprintf("p%-3d %s %4s  %s", p.Index, bar(p.RowsSoFar, expected, partitionBar), percent(p.RowsSoFar, expected), p.Worker)
	if p.Attempts > 1 {
		text += fmt.Sprintf("  attempt %d", p.Attempts)
	}
	if p.State == ledger.PartitionRetry {
		text += "  waits"
	}
	if p.Message != "" {
		text += " (" + p.Message + ")"
	}
	return text
}

// bar fills a width by part of whole.
func bar(part, whole int64, width int) string {
	full := width
	if whole > 0 {
		full = int(min(part*int64(width)/whole, int64(width)))
	}
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// redraw is the shortest time between two drawings.
const redraw = 250 * time.Millisecond
