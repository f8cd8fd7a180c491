package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/ledger"
)

const listExample = `  loadctl list                                     the newest runs
  loadctl list --problem                           what failed, timed out or waits for a person
  loadctl list --job INSP_DTL --since yesterday
  loadctl list --state FAILED_EXTRACT --state TIMED_OUT --since 7d`

// listFlags are the filters of list.
type listFlags struct {
	job, key string
	states   []string
	active   bool
	problem  bool
	since    string
	limit    int
}

func (a *app) listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List runs, newest first",
		Example: listExample,
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.job, "job", "", "only runs of this job")
	fs.StringVar(&f.key, "date", "", "only runs of this business date, as 2026-09-28")
	fs.StringArrayVar(&f.states, "state", nil, "only runs in this state; may be repeated")
	fs.BoolVar(&f.active, "active", false, "only runs that are not over")
	fs.BoolVar(&f.problem, "problem", false, "only runs that failed, timed out or wait for a person")
	fs.StringVar(&f.since, "since", "", "only runs made since: a date, today, yesterday, or as long ago as 2h, 7d")
	fs.IntVar(&f.limit, "limit", 50, "show at most so many, 1 to 1000")
	return cmd
}

// mostRuns bounds how many runs are looked through to say what a filter hides.
const mostRuns = 1000

func (a *app) list(ctx context.Context, f listFlags) error {
	since, err := parseSince(f.since, a.now())
	if err != nil {
		return err
	}
	if f.limit < 1 || f.limit > mostRuns {
		return usage("--limit %d: want 1 to %d", f.limit, mostRuns)
	}
	for _, s := range f.states {
		if _, ok := ledger.Lookup(ledger.State(s)); !ok {
			return usage("--state %s: want one of %s", s, strings.Join(words(stateNames()), ", "))
		}
	}
	_, l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	runs, err := l.List(ctx, ledger.Filter{Job: f.job, Key: f.key, Since: since, Limit: mostRuns})
	if err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(runs), func(r ledger.Run) bool { return !f.shows(r) })
	matching := len(shown)
	shown = shown[:min(len(shown), f.limit)]
	if a.json() {
		return a.printList(shown, matching, len(runs))
	}
	if err := tellVerdicts(ctx, l, shown); err != nil {
		return err
	}
	a.printRuns(shown)
	a.note("%s", f.summary(len(shown), matching, len(runs)))
	return nil
}

// shows applies the filters whose victims are counted.
func (f listFlags) shows(r ledger.Run) bool {
	return (len(f.states) == 0 || slices.Contains(f.states, string(r.State))) &&
		(!f.active || r.State.Active()) && (!f.problem || isProblem(r))
}

// isProblem says that somebody should look: the run failed, was given up, waits for a decision, or its target is damaged.
func isProblem(r ledger.Run) bool {
	return r.TargetDamaged || r.State == ledger.PublishUnknown ||
		!r.State.Active() && r.State != ledger.Success && r.State != ledger.Skipped
}

// summary says what is shown, and what a filter or the limit hides.
func (f listFlags) summary(shown, matching, all int) string {
	total := fmt.Sprint(all)
	if all == mostRuns {
		total = fmt.Sprintf("the newest %d", mostRuns)
	}
	text := fmt.Sprintf("%d of %s runs shown", shown, total)
	var why []string
	if hidden := all - matching; hidden > 0 {
		var by []string
		if len(f.states) > 0 {
			by = append(by, "--state")
		}
		if f.active {
			by = append(by, "--active")
		}
		if f.problem {
			by = append(by, "--problem")
		}
		why = append(why, fmt.Sprintf("%d hidden by %s", hidden, strings.Join(by, " and ")))
	}
	if cut := matching - shown; cut > 0 {
		why = append(why, fmt.Sprintf("%d more beyond --limit %d", cut, f.limit))
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text
}

// tellVerdicts puts what a reconciliation found before the reason of each run that waits for a decision.
func tellVerdicts(ctx context.Context, l *ledger.Ledger, runs []ledger.Run) error {
	for i, r := range runs {
		if r.State != ledger.PublishUnknown {
			continue
		}
		attempts, err := l.Attempts(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, p := range attempts {
			if p.Token == r.PublishToken && p.Verdict != "" {
				runs[i].Message = "verdict " + string(p.Verdict) + "; " + r.Message
			}
		}
	}
	return nil
}

func (a *app) printRuns(runs []ledger.Run) {
	t := &table{right: []bool{false, false, false, false, true}}
	t.add("RUN", "ID", "STATE", "FOR", "ROWS", "WHY")
	for _, r := range runs {
		t.add(r.Handle(), r.Short(), a.stateText(r.State), ago(a.now().Sub(r.Since)), count(r.RowsDone), why(r))
	}
	if width, terminal := terminalWidth(a.Out); terminal {
		t.cut(width)
	}
	for _, l := range t.lines() {
		a.say("%s", l)
	}
}

// why is the reason of a state on one line.
func why(r ledger.Run) string {
	text, _, _ := strings.Cut(r.Message, "\n")
	if r.TargetDamaged {
		text = strings.TrimSpace("target damaged; " + text)
	}
	return text
}

// listJSON is the document of list.
type listJSON struct {
	Schema   string    `json:"schema"`
	Runs     []runJSON `json:"runs"`
	Matching countJSON `json:"matching"` // beyond those shown too
}

// countJSON is a count that may be of the newest runs only.
type countJSON struct {
	Value int  `json:"value"`
	Exact bool `json:"exact"`
}

func (a *app) printList(shown []ledger.Run, matching, all int) error {
	doc := listJSON{Schema: Schema, Runs: []runJSON{}, Matching: countJSON{matching, all < mostRuns}}
	for _, r := range shown {
		doc.Runs = append(doc.Runs, runOf(r))
	}
	return a.printJSON(doc)
}

// parseSince reads a date in the zone of the host, or a duration back from now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := parseAge(text); err == nil {
		return now.Add(-d), nil
	}
	day, err := config.ParseDate(text, now, time.Local)
	if err != nil {
		return time.Time{}, usage("--since %q: want a date as 2026-09-28, today, yesterday, or an age as 2h or 7d", text)
	}
	t, err := time.ParseInLocation(time.DateOnly, day.String(), time.Local)
	if err != nil {
		return time.Time{}, fmt.Errorf("read date %s: %w", day, err)
	}
	return t, nil
}

// parseAge is time.ParseDuration that knows days.
func parseAge(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if d, err = time.ParseDuration(days + "h"); err == nil {
			d *= 24
		}
	}
	if err == nil && d < 0 {
		err = errors.New("negative")
	}
	return d, err
}
