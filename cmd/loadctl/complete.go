package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/ledger"
)

// completionTime is how long a shell waits for the ledger: a key that does nothing for longer is worse than no names.
const completionTime = 300 * time.Millisecond

// completed bounds how many runs a shell is offered.
const completed = 30

// completeRuns offers the newest runs for the argument of a verb.
func (a *app) completeRuns(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	names := []string{ledger.RefLatest}
	cfg, err := config.Load(a.configFile)
	if err != nil {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	l, err := wire.Ledger(ctx, cfg, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	defer l.Close()
	runs, err := l.List(ctx, ledger.Filter{Limit: completed})
	if err != nil {
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	for _, r := range runs {
		names = append(names, r.Handle()+"\t"+string(r.State))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeFlags offers the values of the flags that have known ones. A flag that a verb lacks is left alone.
func (a *app) completeFlags(cmd *cobra.Command) {
	values := map[string]func() []string{
		"job": a.jobNames,
		"as": func() []string {
			return []string{string(ledger.AsPublished), string(ledger.AsFailed), string(ledger.AsRepublish)}
		},
		"for":   func() []string { return words(ledger.Boundaries) },
		"state": func() []string { return words(stateNames()) },
		"date":  func() []string { return []string{"today", "yesterday"} },
	}
	for name, list := range values {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		// The only error is a flag that was registered before, or is not there.
		_ = cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

func (a *app) jobNames() []string {
	cfg, err := config.Load(a.configFile)
	if err != nil {
		return nil
	}
	return cfg.JobNames()
}

func stateNames() []ledger.State {
	names := make([]ledger.State, len(ledger.States))
	for i, s := range ledger.States {
		names[i] = s.Name
	}
	return names
}

// words are names as plain text.
func words[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}
