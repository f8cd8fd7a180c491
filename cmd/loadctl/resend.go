package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
)

const resendExample = `  loadctl resend INSP_DTL/2026-09-28    the step that the run waits for is due now, with all its attempts again`

func (a *app) resendCommand() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:   "resend RUN",
		Short: "Send the step of a run again that was given up or waits for its time",
		Long: "A step (plan, stage validation, publish, target validation) that failed in a way that may pass is tried again with\n" +
			"growing pauses, and given up after its last attempt. Resend makes it due now. It is refused while somebody works on\n" +
			"it, and for a publish that may have been sent: that is what reconcile is for.",
		Example:           resendExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.resend(cmd.Context(), args[0], reason) },
	}
	cmd.Flags().StringVar(&reason, "reason", "by hand", "why; kept with the run")
	return cmd
}

func (a *app) resend(ctx context.Context, ref, reason string) error {
	l, run, err := a.find(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	now, err := settled(func() (ledger.Run, error) {
		return l.Resend(ctx, ledger.ResendRequest{Run: run.ID, By: wire.Who(), Reason: reason})
	})
	if err != nil {
		return notResent(reread(ctx, l, run), err)
	}
	entries, err := l.Events(ctx, run.ID)
	if err != nil {
		return err
	}
	step := ""
	for _, e := range slices.Backward(entries) {
		if e.Code == ledger.CodeResent {
			step = e.Message
			break
		}
	}
	return a.printChange(change{
		verb: "resend", run: now, was: fmt.Sprintf("%s, waiting for %s", run.State, step),
		is: string(now.State) + ", its step due now with all its attempts again", next: []next{resumeIt(now)},
	})
}

// notResent says why a step was not sent again, and what moves the run instead.
func notResent(r ledger.Run, err error) error {
	why, ok := refusal(err)
	if !ok {
		return err
	}
	hint := "loadctl status " + r.Short()
	switch {
	case r.State == ledger.Publishing || r.State == ledger.PublishUnknown:
		hint = "loadctl reconcile " + r.Short()
	case r.State == ledger.Extracting:
		hint = "its partitions are sent again by: loadctl reissue " + r.Short()
	case !r.State.Active():
		hint = runAgain(r).command
	}
	return notAllowed(r, err, fmt.Sprintf("%s is %s, nothing was sent again: %s", named(r), r.State, why), hint)
}
