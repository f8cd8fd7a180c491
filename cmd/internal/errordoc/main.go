// Command errordoc writes the document of errors and exit codes from the table of classes. Its argument is the file.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/loadctl/loadctl/pipeline"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: errordoc FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(document()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "errordoc:", err)
		os.Exit(1)
	}
}

// document is docs/errors.md.
func document() string {
	var b strings.Builder
	b.WriteString("# Errors and exit codes\n\n<!-- Generated from pipeline/class.go by `go generate ./cmd/loadctl`. Do not edit. -->\n\n")
	b.WriteString("An error message ends with its class in brackets; with `--output json` the class is a field. A class has one exit code.\n")
	b.WriteString("A command that drove or watched a run which then failed exits with 1 whatever the class, and names the class that the\nledger recorded.\n\n")
	b.WriteString("## Exit codes\n\nAn exit code that is not listed is a failure.\n\n| code | meaning |\n|---|---|\n")
	for _, c := range pipeline.ExitCodes {
		fmt.Fprintf(&b, "| %d | %s |\n", c.Code, cell(c.Meaning))
	}
	b.WriteString("\n## Kinds\n\nThe kind of a class is what the pipeline does about it.\n\n| kind | what is done |\n|---|---|\n")
	for _, k := range kinds() {
		fmt.Fprintf(&b, "| %s | %s |\n", k.kind, k.done)
	}
	b.WriteString("\n## Classes\n\n| class | kind | exit | meaning | what to do |\n|---|---|---|---|---|\n")
	for _, c := range pipeline.Classes {
		hint := c.Hint
		if hint == "" {
			hint = "the message says it"
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %s | %s |\n", c.Code, c.Kind, c.Exit, cell(c.Meaning), cell(hint))
	}
	return b.String()
}

type kindRow struct {
	kind pipeline.Kind
	done string
}

func kinds() []kindRow {
	return []kindRow{
		{pipeline.Transient, "nothing happened and it may pass: the same step again, with growing pauses, a bounded number of times"},
		{pipeline.Stale, "somebody else owns the work or moved the run: it is dropped, and said once"},
		{pipeline.Permanent, "somebody must change something: the run fails, with a hint"},
		{pipeline.Mismatch, "values differ: the run fails, its files are kept"},
		{pipeline.Expired, "the snapshot is gone: the run fails at once, only a new one helps"},
		{pipeline.Unknown, "the effect may have happened: nothing is touched, a person decides"},
	}
}

// cell keeps a text within its cell.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
