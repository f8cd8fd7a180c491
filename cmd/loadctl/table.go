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

// lines pads every column but the last to its widest cell.
func (t *table) lines() []string {
	var widths []int
	for _, r := range t.rows {
		for i, c := range r {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], cellWidth(c))
		}
	}
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
