package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/pipeline"
)

// exitTopic is "loadctl help exit". It has no Run: cobra takes it for a topic, not a verb.
func exitTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Exit codes of loadctl. A code that is not listed is a failure.\n\n")
	for _, c := range pipeline.ExitCodes {
		fmt.Fprintf(&b, "  %3d  %s\n", c.Code, c.Meaning)
	}
	b.WriteString("\nThe word in brackets at the end of an error message is its class:\n\n")
	t := &table{}
	for _, c := range pipeline.Classes {
		t.add("  "+c.Code, fmt.Sprint(c.Exit), c.Meaning)
	}
	b.WriteString(strings.Join(t.lines(), "\n"))
	return &cobra.Command{Use: "exit", Aliases: []string{"exit-codes"}, Short: "Exit codes and classes of errors", Long: b.String()}
}
