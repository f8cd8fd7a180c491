package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/loadctl/loadctl/ledger"
)

//go:generate go test -run ^TestReferenceIsCurrent$ -update .

//go:generate go test -run ^TestRecoveryIsCurrent$ -update .

var update = flag.Bool("update", false, "write the generated parts of docs")

// TestRecoveryIsCurrent: the table of docs/recovery.md is that of the code.
func TestRecoveryIsCurrent(t *testing.T) {
	const name = "../../docs/recovery.md"
	const begin, end = "<!-- states -->\n", "<!-- end of states -->\n"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table: want %q and %q", name, begin, end)
	}
	want := before + begin + recoveryTable() + end + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("docs/recovery.md differs from the code: run go generate ./cmd/loadctl")
	}
}

// TestEveryLastingStateHasAdvice: whatever a run can stay in, but for success, somebody has to be told what to do.
func TestEveryLastingStateHasAdvice(t *testing.T) {
	for _, s := range ledger.States {
		_, ok := adviceOn(s.Name)
		if want := s.Name != ledger.Success && s.Name != ledger.Skipped; ok != want {
			t.Errorf("%s has advice: %t, want %t", s.Name, ok, want)
		}
	}
}

// TestAdviceNamesVerbs: each command in the advice is a verb of loadctl.
func TestAdviceNamesVerbs(t *testing.T) {
	root := testApp(t, io.Discard, io.Discard).rootCommand()
	for _, v := range advices {
		for i, text := range strings.Split(v.look+" "+v.do+" "+v.never, "`") {
			if i%2 == 0 {
				continue
			}
			verb, _, _ := strings.Cut(text, " ")
			if c, _, err := root.Find([]string{verb}); err != nil || c == root {
				t.Errorf("the advice on %s names %q, which is no verb", v.state, verb)
			}
		}
	}
}

func TestReferenceIsCurrent(t *testing.T) {
	const name = "../../docs/loadctl.md"
	want := reference(testApp(t, io.Discard, io.Discard).rootCommand())
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/loadctl.md differs from the commands: run go generate ./cmd/loadctl")
	}
}

// reference is docs/loadctl.md: every verb with its flags and examples, from the commands themselves.
func reference(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# loadctl\n\n<!-- Generated from cmd/loadctl by `go generate ./cmd/loadctl`. Do not edit. -->\n\n")
	b.WriteString("A run is named by its id, by the last 4 or more digits of it, by `JOB/DATE#N`, by `JOB/DATE` for the newest of that date, or by\n" +
		"`latest`. Results are on stdout; progress, notes and errors are on stderr, each line prefixed `loadctl:`. What is printed as text\n" +
		"may change; `--output json` is the contract: fields are only added, SCNs and values of metrics are text, times are RFC 3339 in UTC.\n" +
		"Exit codes and classes of errors are in [errors.md](errors.md).\n\n")
	fmt.Fprintf(&b, "## Flags of every verb\n\n%s", flagTable(root.PersistentFlags()))
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "help" && c.Name() != "completion" {
			writeVerb(&b, c)
		}
	}
	return b.String()
}

func writeVerb(b *strings.Builder, c *cobra.Command) {
	text := c.Long
	if text == "" {
		text = c.Short + "."
	}
	fmt.Fprintf(b, "\n## loadctl %s\n\n%s\n", c.Use, text)
	if c.Example != "" {
		fmt.Fprintf(b, "\n```\n%s\n```\n", c.Example)
	}
	if flags := flagTable(c.LocalNonPersistentFlags()); flags != "" {
		b.WriteString("\n" + flags)
	}
}

func flagTable(fs *pflag.FlagSet) string {
	var b strings.Builder
	fs.VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name += ", -" + f.Shorthand
		}
		if f.Name == "help" || f.Name == "version" {
			return
		}
		def := f.DefValue
		if def == "false" || def == "[]" {
			def = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, def, f.Usage)
	})
	if b.Len() == 0 {
		return ""
	}
	return "| flag | default | |\n|---|---|---|\n" + b.String()
}
