package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/ledger"
)

// short is the end of a run's id: the beginning is the clock.
func short(id uuid.UUID) string { return id.String()[30:] }

// count writes 105000 as 105,000.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// about writes 27605912 as "27.6 M".
func about(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.0f", n)
}

// size writes bytes as "6.2 GB".
func size(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	s := about(float64(n))
	if strings.HasSuffix(s, "k") {
		return strings.TrimSuffix(s, "k") + "kB"
	}
	return s + "B"
}

// minutes writes a duration as 0:41, 1:52 or 2:03:11.
func minutes(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s < 0 {
		s = 0
	}
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// ago writes how long something has lasted: "40 s", "13 min", "2 h", "3 d".
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", max(int(d.Seconds()), 0))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

// clockTime is a time of the day in the zone of the host, as a person there reads it.
func clockTime(t time.Time) string { return t.Local().Format(time.TimeOnly) }

// plural writes "1 fault", "2 faults".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// look is how a state is shown: a sign beside the word, and a colour (SGR) where colours are wanted.
type look struct{ sign, color string }

// lookOf groups the states: waiting, working, undecided, done, failed, given up.
func lookOf(s ledger.State) look {
	switch s {
	case ledger.Created, ledger.ExtractedValidated, ledger.StagingValidated:
		return look{"○", "2"}
	case ledger.Extracting, ledger.StageValidating, ledger.Publishing, ledger.Published:
		return look{"▶", "34"}
	case ledger.PublishUnknown:
		return look{"?", "1;35"}
	case ledger.Success, ledger.Skipped:
		return look{"✓", "32"}
	case ledger.TimedOut, ledger.Cancelled:
		return look{"⊘", "33"}
	}
	return look{"✗", "31"}
}

// stateText is a state with its sign, coloured if asked.
func (a *app) stateText(s ledger.State) string {
	l := lookOf(s)
	return a.paint(l.color, l.sign+" "+string(s))
}

// paint colours text where colours are wanted.
func (a *app) paint(sgr, text string) string {
	if !a.colored() {
		return text
	}
	return "\x1b[" + sgr + "m" + text + "\x1b[0m"
}

// colored says whether colours are wanted on stdout.
func (a *app) colored() bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	}
	_, terminal := terminalWidth(a.Out)
	return terminal && a.Getenv("NO_COLOR") == "" && a.Getenv("TERM") != "dumb"
}
