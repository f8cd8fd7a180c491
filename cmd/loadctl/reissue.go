package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
)

const reissueExample = `  loadctl reissue INSP_DTL/2026-09-28                 all that are lost or wait for their next attempt
  loadctl reissue 7be13d --failed                     only those whose last attempt failed
  loadctl reissue 7be13d --partition 3 --partition 5  these, or none`

// reissueFlags choose partitions.
type reissueFlags struct {
	partitions []int
	failed     bool
	reason     string
}

func (a *app) reissueCommand() *cobra.Command {
	var f reissueFlags
	cmd := &cobra.Command{
		Use:   "reissue RUN [--partition N | --failed]",
		Short: "Send lost partitions of a run again now",
		Long: "Reissue makes partitions due now that would be sent again later: those that wait for their next attempt, and those\n" +
			"whose worker was not heard of for recovery.stale. They are read at the run's own SCN, under a new token; late reports\n" +
			"of the old one are refused. A partition that is read by a worker that lives is left alone.",
		Example:           reissueExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.reissue(cmd.Context(), args[0], f) },
	}
	fs := cmd.Flags()
	fs.IntSliceVar(&f.partitions, "partition", nil, "number of a partition; may be repeated")
	fs.BoolVar(&f.failed, "failed", false, "those whose last attempt failed and that wait for the next")
	fs.StringVar(&f.reason, "reason", "by hand", "why; kept with the run")
	return cmd
}

func (a *app) reissue(ctx context.Context, ref string, f reissueFlags) error {
	if f.failed && len(f.partitions) > 0 {
		return usage("--failed and --partition exclude each other")
	}
	if n := slices.IndexFunc(f.partitions, func(n int) bool { return n < 0 }); n >= 0 {
		return usage("--partition %d: they count from 0", f.partitions[n])
	}
	cfg, l, run, err := a.findWith(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	before, err := l.Partitions(ctx, run.ID)
	if err != nil {
		return err
	}
	wanted := f.partitions
	if f.failed {
		if wanted = inState(before, ledger.PartitionRetry); len(wanted) == 0 && run.State == ledger.Extracting {
			return a.nothingLost(run, before)
		}
	}
	done, err := l.Reissue(ctx, ledger.ReissueRequest{
		Run: run.ID, Partitions: wanted, Stale: cfg.Daemon.Recovery.Stale, By: wire.Who(), Reason: f.reason,
	})
	if err != nil {
		return notReissued(reread(ctx, l, run), err)
	}
	if len(done) == 0 {
		return a.nothingLost(run, before)
	}
	var was []string
	for _, n := range done {
		was = append(was, partitionWords(before[n]))
	}
	return a.printChange(change{
		verb: "reissue", run: reread(ctx, l, run), was: strings.Join(was, ", "),
		is:   partitionNames(done) + " due now, to be read at scn " + run.SCN + " under a new token",
		next: []next{resumeIt(run)},
	})
}

// nothingLost says that nothing was changed, and how the partitions are.
func (a *app) nothingLost(run ledger.Run, all []ledger.Partition) error {
	var parts []string
	for _, s := range []ledger.PartitionState{ledger.PartitionSuccess, ledger.PartitionRunning, ledger.PartitionPending, ledger.PartitionRetry} {
		if in := inState(all, s); len(in) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", len(in), s))
		}
	}
	state := strings.Join(parts, ", ")
	return a.printChange(change{verb: "reissue", run: run, was: state, is: "the same: no partition is lost", next: []next{resumeIt(run)}})
}

func inState(all []ledger.Partition, s ledger.PartitionState) []int {
	var out []int
	for _, p := range all {
		if p.State == s {
			out = append(out, p.Index)
		}
	}
	return out
}

func partitionNames(all []int) string {
	names := make([]string, len(all))
	for i, n := range all {
		names[i] = fmt.Sprintf("p%d", n)
	}
	return strings.Join(names, ", ")
}

// partitionWords is a partition with what it waited for.
func partitionWords(p ledger.Partition) string {
	text := fmt.Sprintf("p%d %s", p.Index, p.State)
	switch {
	case p.State == ledger.PartitionRunning && p.HeartbeatAt != nil:
		text += fmt.Sprintf(" (%s, last heard of at %s)", p.Worker, clockTime(*p.HeartbeatAt))
	case p.NotBefore != nil:
		text += " (due at " + clockTime(*p.NotBefore) + ")"
	}
	return text
}

// notReissued says why no partition was sent again.
func notReissued(r ledger.Run, err error) error {
	if errors.Is(err, ledger.ErrNoRun) {
		return usage("%s has no such partition: it has %d, counted from 0", named(r), r.Partitions)
	}
	why, ok := refusal(err)
	if !ok {
		return err
	}
	hint := "loadctl status " + r.Short() + " shows each partition and its worker"
	if !r.State.Active() {
		hint = runAgain(r).command
	}
	return notAllowed(r, err, fmt.Sprintf("%s is %s, nothing was sent again: %s", named(r), r.State, why), hint)
}
