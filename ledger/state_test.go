package ledger_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/loadctl/loadctl/ledger"
)

// allowed is the table of the design, written down once more by hand: from, and where it may go.
var allowed = map[ledger.State][]ledger.State{
	"":                        {"CREATED"},
	ledger.Created:            {"EXTRACTING", "EXTRACTED_VALIDATED", "FAILED_MANIFEST", "FAILED_SNAPSHOT_EXPIRED", "TIMED_OUT", "CANCELLED"},
	ledger.Extracting:         {"EXTRACTED_VALIDATED", "FAILED_EXTRACT", "FAILED_SNAPSHOT_EXPIRED", "TIMED_OUT", "CANCELLED"},
	ledger.ExtractedValidated: {"STAGE_VALIDATING", "SKIPPED", "TIMED_OUT", "CANCELLED"},
	ledger.StageValidating:    {"STAGING_VALIDATED", "FAILED_STAGE_VALIDATION", "TIMED_OUT", "CANCELLED"},
	ledger.StagingValidated:   {"PUBLISHING", "PUBLISH_UNKNOWN", "TIMED_OUT", "CANCELLED"},
	ledger.Publishing:         {"STAGING_VALIDATED", "FAILED_PUBLISH", "PUBLISH_UNKNOWN", "PUBLISHED"},
	ledger.PublishUnknown:     {"PUBLISHED", "FAILED_PUBLISH", "STAGING_VALIDATED"},
	ledger.Published:          {"SUCCESS", "FAILED_TARGET_VALIDATION"},
}

func events() []ledger.Event {
	var all []ledger.Event
	for _, tr := range ledger.Transitions {
		if !slices.Contains(all, tr.Event) {
			all = append(all, tr.Event)
		}
	}
	return append(all, "no such event")
}

func TestEveryStateTimesEveryEvent(t *testing.T) {
	t.Parallel()
	for _, from := range append([]ledger.StateRow{{}}, ledger.States...) {
		reached := map[ledger.State]bool{}
		for _, e := range events() {
			to, err := ledger.Next(from.Name, e)
			var refused *ledger.TransitionError
			switch {
			case err == nil && !slices.Contains(allowed[from.Name], to):
				t.Errorf("%s by %s leads to %s, want refused", from.Name, e, to)
			case err == nil:
				reached[to] = true
			case !errors.As(err, &refused) || !errors.Is(err, ledger.ErrTransition) || refused.From != from.Name || to != "":
				t.Errorf("%s by %s: %v, want a TransitionError", from.Name, e, err)
			}
		}
		for _, to := range allowed[from.Name] {
			if !reached[to] {
				t.Errorf("no event leads from %s to %s", from.Name, to)
			}
		}
	}
}

func TestTablesFitEachOther(t *testing.T) {
	t.Parallel()
	for _, tr := range ledger.Transitions {
		if _, ok := ledger.Lookup(tr.To); !ok {
			t.Errorf("transition %s %s leads to the unknown state %s", tr.From, tr.Event, tr.To)
		}
		if tr.Doc == "" {
			t.Errorf("transition %s %s has no doc", tr.From, tr.Event)
		}
	}
	for _, s := range ledger.States {
		leaves := slices.ContainsFunc(ledger.Transitions, func(tr ledger.Transition) bool { return tr.From == s.Name })
		if leaves != s.Active {
			t.Errorf("state %s: active %v, but a transition leaves it: %v", s.Name, s.Active, leaves)
		}
		if s.Terminal() == s.Active || s.Name.Active() != s.Active {
			t.Errorf("state %s: terminal %v, active %v", s.Name, s.Terminal(), s.Active)
		}
	}
	for _, d := range ledger.Dispatches {
		row, _ := ledger.Lookup(d.Serves)
		if row.Calls != d.Kind {
			t.Errorf("%s serves %s, which calls for %q", d.Kind, d.Serves, row.Calls)
		}
	}
}

func TestDocIsGenerated(t *testing.T) {
	t.Parallel()
	got, err := os.ReadFile("../docs/state.md")
	check(t, err)
	if string(got) != ledger.StateDoc() {
		t.Fatal("docs/state.md differs from ledger/state.go; run: go generate ./ledger")
	}
}
