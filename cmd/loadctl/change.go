package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/loadctl/loadctl/ledger"
)

// change is what a verb did: what was, what is, and the commands that come next.
type change struct {
	verb string
	run  ledger.Run // as it is now
	was  string
	is   string
	next []next
}

// next is a command that makes sense now, and why.
type next struct{ command, why string }

// changeJSON is the document of a verb that changed something.
type changeJSON struct {
	Schema string     `json:"schema"`
	Verb   string     `json:"verb"`
	Run    runJSON    `json:"run"`
	Was    string     `json:"was"`
	Is     string     `json:"is"`
	Next   []nextJSON `json:"next"`
}

type nextJSON struct {
	Command string `json:"command"`
	Why     string `json:"why,omitempty"`
}

func nextOf(all []next) []nextJSON {
	out := []nextJSON{}
	for _, n := range all {
		out = append(out, nextJSON{n.command, n.why})
	}
	return out
}

func (a *app) printChange(c change) error {
	if a.json() {
		return a.printJSON(changeJSON{Schema, c.verb, runOf(c.run), c.was, c.is, nextOf(c.next)})
	}
	a.say("%s  %s", c.run.Handle(), c.run.Short())
	a.say("  was   %s", c.was)
	a.say("  is    %s", c.is)
	a.printNext("  next  ", c.next)
	return nil
}

// printNext prints commands, their reasons beside them.
func (a *app) printNext(head string, all []next) {
	t := &table{}
	for _, n := range all {
		if n.why == "" {
			t.add(n.command)
		} else {
			t.add(n.command, n.why)
		}
	}
	for i, l := range t.lines() {
		if i > 0 {
			head = strings.Repeat(" ", len(head))
		}
		a.say("%s%s", head, l)
	}
}

// stateLine is a state with what its class or message adds.
func stateLine(r ledger.Run) string {
	text := string(r.State)
	if r.TargetOutcome != "" {
		text += ", target " + r.TargetOutcome
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// named is a run in a sentence: its handle and short id.
func named(r ledger.Run) string { return fmt.Sprintf("%s (%s)", r.Handle(), r.Short()) }

func resumeIt(r ledger.Run) next {
	return next{"loadctl resume " + r.Short(), "drive it from here; any loadd does the same"}
}

func runAgain(r ledger.Run) next {
	return next{fmt.Sprintf("loadctl run --job %s --date %s", r.Job, r.Key), "a new run, with a new snapshot"}
}

// settled repeats a call that the ledger answers the same way however often it is made, when its answer was lost.
func settled[T any](call func() (T, error)) (out T, err error) {
	for range 3 {
		if out, err = call(); !errors.Is(err, ledger.ErrCommitUnknown) {
			break
		}
	}
	return out, err
}

// notAllowed is a refusal, with what to do instead.
func notAllowed(r ledger.Run, err error, text, hint string) error {
	return &failure{err: err, text: text, run: r.ID.String(), hint: hint, what: "nothing was changed"}
}

// reasoned refuses an empty reason.
func reasoned(reason string) error {
	if strings.TrimSpace(reason) == "" {
		return withHint(usage("--reason is missing"), "say in a few words why: it is kept with the run, and loadctl events shows it")
	}
	return nil
}

// refusal finds what the ledger says of a step that is not allowed.
func refusal(err error) (why string, ok bool) {
	var t *ledger.TransitionError
	var s *ledger.StaleError
	var r *ledger.ResolveError
	var p *ledger.ReissueError
	switch {
	case errors.As(err, &t):
		return t.Why, true
	case errors.As(err, &s):
		return s.Why, true
	case errors.As(err, &r):
		return r.Why, true
	case errors.As(err, &p):
		return fmt.Sprintf("p%d: %s", p.Partition, p.Why), true
	}
	return "", false
}

// reread is a run as it is now, or as it was if the ledger does not answer.
func reread(ctx context.Context, l *ledger.Ledger, r ledger.Run) ledger.Run {
	if now, err := l.Run(ctx, r.ID); err == nil {
		return now
	}
	return r
}
