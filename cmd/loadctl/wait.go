package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
)

const waitExample = `  loadctl wait INSP_DTL/2026-09-28 --for verified
  loadctl wait 7be13d --for published --timeout 10m    exit 6 when it is not by then`

func (a *app) waitCommand() *cobra.Command {
	var until string
	var timeout, progress time.Duration
	cmd := &cobra.Command{
		Use:               "wait RUN --for BOUNDARY",
		Short:             "Wait until a run has reached a boundary; changes nothing",
		Example:           waitExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(ledger.Boundaries, ledger.Boundary(until)) {
				return usage("--for %q: want one of %s", until, boundaryWords())
			}
			return a.wait(cmd.Context(), args[0], ledger.Boundary(until), timeout, progress)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&until, "for", string(ledger.Verified), "boundary: "+boundaryWords())
	fs.DurationVar(&timeout, "timeout", 0, "give up after this time; 0: never")
	fs.DurationVar(&progress, "progress", time.Minute, "pause between lines of progress off a terminal; 0: boundaries only")
	return cmd
}

func boundaryWords() string { return strings.Join(words(ledger.Boundaries), ", ") }

func (a *app) wait(ctx context.Context, ref string, until ledger.Boundary, timeout, progress time.Duration) error {
	l, run, err := a.find(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, timeout, pipeline.ErrWaitTimeout)
		defer cancel()
	}
	f := follow{
		a: a, ledger: l, run: run.ID, until: until, gap: redraw, every: time.Second, show: a.display(false, progress, until),
	}
	s, err := f.loop(ctx, nil)
	switch {
	case errors.Is(err, pipeline.ErrWaitTimeout):
		return stillNot(orRun(s.run, run), until, timeout)
	case err != nil && ctx.Err() != nil:
		return &failure{err: pipeline.ErrInterrupted, run: run.ID.String(), text: "interrupted; the wait changed nothing"}
	case err != nil:
		return err
	}
	return a.result(ctx, l, s, until)
}

func orRun(r, otherwise ledger.Run) ledger.Run {
	if r.State == "" {
		return otherwise
	}
	return r
}

func stillNot(r ledger.Run, until ledger.Boundary, timeout time.Duration) error {
	return &failure{
		err: pipeline.ErrWaitTimeout, run: r.ID.String(),
		text: fmt.Sprintf("%s (%s) is still %s and not %s after %s; the wait changed nothing", r.Handle(), r.Short(), r.State, until, timeout),
		hint: "loadctl status " + r.Short(),
	}
}
