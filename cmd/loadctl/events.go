package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

const eventsExample = `  loadctl events INSP_DTL/2026-09-28            all that happened to it, in order
  loadctl events latest --follow                and what happens from now on, until it is over
  loadctl events latest --output json --follow  one JSON object a line`

func (a *app) eventsCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:               "events RUN",
		Short:             "Show what happened to a run, in order",
		Example:           eventsExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.events(cmd.Context(), args[0], follow) },
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run is over")
	return cmd
}

func (a *app) events(ctx context.Context, ref string, follow bool) error {
	l, run, err := a.find(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	if follow {
		return a.followEvents(ctx, l, run)
	}
	entries, err := l.Events(ctx, run.ID)
	if err != nil {
		return err
	}
	if a.json() {
		doc := eventsJSON{Schema: Schema, Run: runOf(run), Events: []eventJSON{}}
		for _, e := range entries {
			doc.Events = append(doc.Events, eventOf(e))
		}
		return a.printJSON(doc)
	}
	for _, e := range entries {
		a.say("%s", eventLine(e))
	}
	return nil
}

// followEvents prints what is new until the run is over. Entries are told apart by what they are and not by their place:
// a transaction that began earlier may commit later, and its entry is then before others that were printed.
func (a *app) followEvents(ctx context.Context, l *ledger.Ledger, run ledger.Run) error {
	w := l.Watch(ctx)
	defer w.Close()
	printed := map[string]bool{}
	for {
		now, err := l.Run(ctx, run.ID) // before its events: when it is over here, they are all there
		if err != nil {
			return followEnd(ctx, err)
		}
		entries, err := l.Events(ctx, run.ID)
		if err != nil {
			return followEnd(ctx, err)
		}
		for _, e := range entries {
			if k := eventKey(e); !printed[k] {
				printed[k] = true
				a.printEvent(run, e)
			}
		}
		if !now.State.Active() || now.State == ledger.PublishUnknown {
			return ended(now)
		}
		if w.Next(ctx); ctx.Err() != nil {
			return followEnd(ctx, ctx.Err())
		}
	}
}

func followEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &failure{err: pipeline.ErrInterrupted, text: "interrupted; following changed nothing"}
	}
	return err
}

func eventKey(e ledger.Entry) string {
	if e.ID != 0 {
		return fmt.Sprint(e.ID)
	}
	return fmt.Sprint(e.Code, e.From, e.To, e.At.UnixNano())
}

func (a *app) printEvent(run ledger.Run, e ledger.Entry) {
	if a.json() {
		writeLine(a.Out, struct {
			Schema      string `json:"schema"`
			MessageType string `json:"message_type"`
			RunID       string `json:"run_id"`
			eventJSON
		}{Schema, "event", run.ID.String(), eventOf(e)})
		return
	}
	a.say("%s", eventLine(e))
}

func eventLine(e ledger.Entry) string {
	what := e.Code
	if e.Kind == ledger.KindState {
		what = string(e.To)
		if e.From != "" {
			what = string(e.From) + " → " + what
		}
	}
	where := ""
	if e.Partition != nil {
		where = fmt.Sprintf("p%d ", *e.Partition)
	}
	text := fmt.Sprintf("%s  %-9s  %s%s", e.At.Local().Format(time.DateTime), e.Kind, where, what)
	if e.Message != "" {
		text += "  " + strings.ReplaceAll(e.Message, "\n", " / ")
	}
	return text + bracketed(e.Class) + "  by " + e.By
}

// eventsJSON is the document of events.
type eventsJSON struct {
	Schema string      `json:"schema"`
	Run    runJSON     `json:"run"`
	Events []eventJSON `json:"events"`
}

type eventJSON struct {
	ID        int64           `json:"id,omitempty"` // of what is no state change
	At        string          `json:"at"`
	Kind      string          `json:"kind"`
	Code      string          `json:"code"`
	From      string          `json:"from,omitempty"`
	To        string          `json:"to,omitempty"`
	Partition *int            `json:"partition,omitempty"`
	Class     string          `json:"class,omitempty"`
	Message   string          `json:"message,omitempty"`
	Detail    json.RawMessage `json:"detail,omitempty"`
	By        string          `json:"by"`
}

func eventOf(e ledger.Entry) eventJSON {
	return eventJSON{
		ID: e.ID, At: stamp(e.At), Kind: e.Kind, Code: e.Code, From: string(e.From), To: string(e.To), Partition: e.Partition,
		Class: e.Class, Message: e.Message, Detail: e.Detail, By: e.By,
	}
}
