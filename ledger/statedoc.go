package ledger

import (
	"fmt"
	"strings"
)

// StateDoc is docs/state.md: diagram and tables of states, transitions and dispatches. A test compares.
func StateDoc() string {
	var b strings.Builder
	b.WriteString("# States of a run\n\n<!-- Generated from ledger/state.go by `go generate ./ledger`. Do not edit. -->\n\n")
	b.WriteString("A run moves only along these arrows; PostgreSQL refuses every other step.\n\n")
	writeDiagram(&b)
	writeStates(&b)
	writeTransitions(&b)
	writeDispatches(&b)
	return b.String()
}

func writeDiagram(b *strings.Builder) {
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, t := range Transitions {
		from := string(t.From)
		if from == "" {
			from = "[*]"
		}
		fmt.Fprintf(b, "    %s --> %s: %s\n", from, t.To, t.Event)
	}
	for _, s := range States {
		if s.Terminal() {
			fmt.Fprintf(b, "    %s --> [*]\n", s.Name)
		}
	}
	b.WriteString("```\n\n")
}

func writeStates(b *strings.Builder) {
	b.WriteString("## States\n\nAn active run blocks other runs of its job and key, and of its target. " +
		"A gated state is not left while the ledger lives on a timeline that has not been compared with the marks beside the data.\n\n")
	b.WriteString("| state | active | gated | calls for | meaning |\n|---|---|---|---|---|\n")
	for _, s := range States {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", s.Name, yes(s.Active), yes(s.Gated), s.Calls, s.Doc)
	}
}

func writeTransitions(b *strings.Builder) {
	b.WriteString("\n## Transitions\n\n| from | event | to | then true for good | meaning |\n|---|---|---|---|---|\n")
	for _, t := range Transitions {
		reached := make([]string, len(t.Reaches))
		for i, r := range t.Reaches {
			reached[i] = string(r)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", t.From, t.Event, t.To, strings.Join(reached, ", "), t.Doc)
	}
}

func writeDispatches(b *strings.Builder) {
	b.WriteString("\n## Dispatches\n\nEvery arrow into a state that calls for a dispatch inserts it anew, in the same transaction.\n\n")
	b.WriteString("| dispatch | serves | begins with | resumes in | does |\n|---|---|---|---|---|\n")
	for _, d := range Dispatches {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", d.Kind, d.Serves, d.Begin, d.Resumes, d.Doc)
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}
