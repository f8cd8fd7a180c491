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
)

//go:generate go test -run ^TestReferenceIsCurrent$ -update .

var update = flag.Bool("update", false, "write docs/loadctl.md")

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
