package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

// ledgerJSON is the document of reconcile --ledger.
type ledgerJSON struct {
	Schema   string     `json:"schema"`
	Timeline string     `json:"timeline"`
	Compared string     `json:"compared"` // the timeline that was compared before
	Needed   bool       `json:"needed"`   // false: there was nothing to compare
	Marks    int        `json:"marks"`    // all that were looked at
	Adopted  []markJSON `json:"adopted"`  // of runs that are PUBLISH_UNKNOWN because of them
	Unknown  []markJSON `json:"unknown"`  // of runs that the ledger does not know
	Waiting  []runJSON  `json:"waiting"`  // runs that wait for a decision
	Next     []nextJSON `json:"next"`
}

type markJSON struct {
	Path    string `json:"path"`
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	Target  string `json:"target"`
}

func (a *app) reconcileLedger(ctx context.Context, env *pipeline.Env, f reconcileFlags) error {
	if f.distrust {
		if err := a.distrust(ctx, env.Ledger, f); err != nil {
			return err
		}
	}
	o := f.options(env)
	a.note("%s comparing the ledger with the marks in the store; what is newer than the ledger is shut out, and waited for %s", clockTime(a.now()), o.Settle)
	found, err := env.CompareLedger(ctx, o)
	if err != nil {
		return &failure{err: err, hint: "do it again once the server that the mark names answers; --instance-dead if that server is gone for good",
			what: "the ledger was not compared to the end; nothing is published and nothing deleted until it is"}
	}
	waiting, err := env.Ledger.List(ctx, ledger.Filter{States: []ledger.State{ledger.PublishUnknown}})
	if err != nil {
		return err
	}
	if a.json() {
		return a.printJSON(ledgerOf(found, waiting))
	}
	a.printLedger(found, waiting)
	return nil
}

// distrust makes the comparison due by a person's word.
func (a *app) distrust(ctx context.Context, l *ledger.Ledger, f reconcileFlags) error {
	if err := a.agree(ctx, f.consent, "Was this ledger set back to an earlier time? Until it is compared nothing is published and nothing deleted."); err != nil {
		return err
	}
	_, err := settled(func() (struct{}, error) { return struct{}{}, l.Distrust(ctx, wire.Who(), f.reason) })
	return err
}

func (a *app) printLedger(found pipeline.LostTail, waiting []ledger.Run) {
	if found.From == found.To {
		a.say("ledger   on timeline %s, which was compared: nothing waits for it", found.To)
	} else {
		a.say("ledger   on timeline %s, compared before on %s: it may have lost its last transactions", found.To, found.From)
		a.say("compared %s in the store: %d newer than the ledger, %d of runs that it does not know", plural(found.Marks, "mark"), len(found.Adopted), len(found.Unknown))
	}
	for _, m := range found.Adopted {
		a.say("newer    %s   run %s is PUBLISH_UNKNOWN now, under this mark", m.Path, lastDigits(m.Run))
	}
	for _, m := range found.Unknown {
		a.say("unknown  %s   a run that the ledger has lost published, or was about to, to %s", m.Path, m.Target)
	}
	for _, r := range waiting {
		a.say("waits    %s  %s", r.Handle(), stateLine(r))
	}
	a.printNext("hint:    ", wayOut(found, waiting))
}

// wayOut is what to do after a comparison: decide what waits, then load again what was lost.
func wayOut(found pipeline.LostTail, waiting []ledger.Run) []next {
	var out []next
	for _, r := range waiting {
		out = append(out, next{"loadctl reconcile " + r.Short(), "then loadctl resolve, as it says"})
	}
	seen := map[string]bool{}
	for _, m := range found.Unknown {
		if !seen[m.Target] {
			seen[m.Target] = true
			out = append(out, next{"loadctl run --job JOB --date DATE", "for " + m.Target + ": what it holds is not in the ledger; a new run makes it known"})
		}
	}
	if len(out) == 0 {
		out = []next{{"loadctl list --since yesterday", "runs that were made since the backup are not there: make them again"}}
	}
	return out
}

// lastDigits is the short id of a run that may not be known.
func lastDigits(id string) string {
	if u, err := uuid.Parse(id); err == nil {
		return short(u)
	}
	return fmt.Sprintf("%q", id)
}

func ledgerOf(found pipeline.LostTail, waiting []ledger.Run) ledgerJSON {
	out := ledgerJSON{
		Schema: Schema, Timeline: found.To, Compared: found.From, Needed: found.From != found.To, Marks: found.Marks,
		Adopted: marksOf(found.Adopted), Unknown: marksOf(found.Unknown), Waiting: []runJSON{}, Next: nextOf(wayOut(found, waiting)),
	}
	for _, r := range waiting {
		out.Waiting = append(out.Waiting, runOf(r))
	}
	return out
}

func marksOf(all []pipeline.FoundMark) []markJSON {
	out := []markJSON{}
	for _, m := range all {
		out = append(out, markJSON{m.Path, m.Run, m.Attempt, m.Target})
	}
	return out
}
