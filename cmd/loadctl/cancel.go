package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
)

const cancelExample = `  loadctl cancel INSP_DTL/2026-09-28 --reason "wrong date"          asks first
  loadctl cancel 7be13d --reason "source is being reloaded" --yes   from a script`

func (a *app) cancelCommand() *cobra.Command {
	var c consent
	var reason string
	cmd := &cobra.Command{
		Use:   "cancel RUN --reason TEXT",
		Short: "End a run that does not publish yet",
		Long: "Cancel ends a run in the ledger; each worker then breaks off its own query, at once where it hears of it and by its\n" +
			"next heartbeat at the latest. It is refused once the run publishes: what was sent cannot be taken back.",
		Example:           cancelExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := reasoned(reason); err != nil {
				return err
			}
			return a.cancel(cmd.Context(), args[0], reason, c)
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why; kept with the run")
	c.flags(cmd.Flags())
	return cmd
}

func (a *app) cancel(ctx context.Context, ref, reason string, c consent) error {
	l, run, err := a.find(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	if run.State == ledger.Cancelled {
		return a.printChange(change{verb: "cancel", run: run, was: stateLine(run), is: "the same", next: []next{runAgain(run)}})
	}
	if _, err := ledger.Next(run.State, ledger.EventCancel); err != nil { // told before anybody is asked
		return notCancelled(run, &ledger.TransitionError{From: run.State, Event: ledger.EventCancel, Why: ledger.NotCancelled(run.State)})
	}
	before, err := a.look(ctx, l, run.ID)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Cancel %s, which is %s (%s)? What it has read is dropped, its target stays as it is.", named(run), run.State, progressWords(run))
	if err := a.agree(ctx, c, question); err != nil {
		return err
	}
	now, err := settled(func() (ledger.Run, error) { return l.Cancel(ctx, run.ID, wire.Who(), reason) })
	if err != nil {
		return notCancelled(reread(ctx, l, run), err)
	}
	return a.printChange(change{
		verb: "cancel", run: now, was: fmt.Sprintf("%s, %s", run.State, progressWords(run)),
		is: string(now.State) + ": " + now.Message + "; " + stopped(before) + damageWords(now), next: []next{runAgain(now)},
	})
}

func progressWords(r ledger.Run) string {
	if r.Partitions == 0 {
		return "not planned yet"
	}
	return fmt.Sprintf("%d/%d partitions, %s of %s rows", r.PartitionsDone, r.Partitions, count(r.RowsDone), count(r.ExpectedRows))
}

// stopped says who was at work on a run that was ended.
func stopped(s sight) string {
	var work []string
	for _, p := range s.partitions {
		if p.State == ledger.PartitionRunning {
			work = append(work, fmt.Sprintf("p%d of %s", p.Index, p.Worker))
		}
	}
	if s.run.Step != "" {
		work = append(work, fmt.Sprintf("%s of %s", s.run.Step, s.run.StepOwner))
	}
	if len(work) == 0 {
		return "nobody was at work on it"
	}
	return "stopped: " + strings.Join(work, ", ")
}

// damageWords reminds of what an earlier publish of the run left.
func damageWords(r ledger.Run) string {
	if r.TargetDamaged {
		return "; its target stays damaged until a run of " + r.Key + " succeeds"
	}
	return ""
}

// notCancelled says why a run is not cancelled, and what can be done with it.
func notCancelled(r ledger.Run, err error) error {
	why, ok := refusal(err)
	if !ok {
		return err
	}
	hint := "loadctl status " + r.Short()
	switch r.State {
	case ledger.Publishing, ledger.Published:
		hint = "loadctl wait " + r.Short() + " --for verified"
	case ledger.PublishUnknown:
		hint = "loadctl reconcile " + r.Short()
	}
	return notAllowed(r, err, fmt.Sprintf("%s is %s and is not cancelled: %s", named(r), r.State, why), hint)
}
