package main

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// table is text in columns. A cell that was painted is as wide as its text.
type table struct {
	rows  [][]string
	right []bool // by column: to the right
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// leastCut is what cut leaves of a last column, however narrow the terminal is.
const leastCut = 20

// cut shortens the cells of the last column so that lines fit a terminal. They must not be painted.
func (t *table) cut(width int) {
	used := 0
	widths := t.widths()
	for _, w := range widths[:len(widths)-1] {
		used += w + 2
	}
	for _, r := range t.rows {
		if len(r) == len(widths) {
			r[len(r)-1] = fit(r[len(r)-1], max(width-used, leastCut))
		}
	}
}

// widths are those of the columns' widest cells.
func (t *table) widths() []int {
	var widths []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cellWidth(c))
		}
	}
	return widths
}

// lines pads every column but the last to its widest cell.
func (t *table) lines() []string {
	widths := t.widths()
	out := make([]string, len(t.rows))
	for n, r := range t.rows {
		var b strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", widths[i]-cellWidth(c))
			switch {
			case i < len(t.right) && t.right[i]:
				b.WriteString(pad + c)
			case i < len(r)-1:
				b.WriteString(c + pad)
			default:
				b.WriteString(c)
			}
			if i < len(r)-1 {
				b.WriteString("  ")
			}
		}
		out[n] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// cellWidth is the width of a cell without its colours.
func cellWidth(s string) int {
	for {
		from := strings.Index(s, "\x1b[")
		if from < 0 {
			return runewidth.StringWidth(s)
		}
		end := strings.IndexByte(s[from:], 'm')
		if end < 0 {
			return runewidth.StringWidth(s)
		}
		s = s[:from] + s[from+end+1:]
	}
}
