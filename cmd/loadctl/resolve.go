package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
)

const resolveExample = `  loadctl resolve 7be13d --as published --reason "reconcile says APPLIED"      on to the validation of the target
  loadctl resolve 7be13d --as failed    --reason "reconcile says NOT_APPLIED"  over; a new run may begin
  loadctl resolve 7be13d --as republish --reason "target is damaged"           publish the sealed data once more`

// resolveFlags are the word on a publish.
type resolveFlags struct {
	as, reason string
	consent
}

func (a *app) resolveCommand() *cobra.Command {
	var f resolveFlags
	cmd := &cobra.Command{
		Use:   "resolve RUN --as published|failed|republish --reason TEXT",
		Short: "Decide what became of a publish whose outcome is not known",
		Long: "Resolve takes a person's word on a run that is PUBLISH_UNKNOWN. It is refused before loadctl reconcile has shut the\n" +
			"statement out, and when it contradicts what reconcile saw: published is refused on NOT_APPLIED and DAMAGED, failed on\n" +
			"APPLIED, and republish needs NOT_APPLIED or DAMAGED.",
		Example:           resolveExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.resolveRun(cmd.Context(), args[0], f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.as, "as", "", "published, failed or republish")
	fs.StringVar(&f.reason, "reason", "", "why; kept with the run")
	f.flags(fs)
	return cmd
}

func (a *app) resolveRun(ctx context.Context, ref string, f resolveFlags) error {
	if err := oneOf("as", f.as, string(ledger.AsPublished), string(ledger.AsFailed), string(ledger.AsRepublish)); err != nil {
		return err
	}
	if err := reasoned(f.reason); err != nil {
		return err
	}
	l, run, err := a.find(ctx, ref)
	if err != nil {
		return err
	}
	defer l.Close()
	attempt, err := inDoubt(ctx, l, run)
	if err != nil {
		return err
	}
	question := fmt.Sprintf("%s: the verdict is %s. Resolve it as %s?", named(run), verdictWords(attempt), f.as)
	if err := a.typed(ctx, f.consent, question, run.Handle()); err != nil {
		return err
	}
	now, err := settled(func() (ledger.Run, error) {
		return l.Resolve(ctx, ledger.Hold{Run: run.ID, Token: attempt.Token}, ledger.Resolution{As: ledger.ResolveAs(f.as), Reason: f.reason, By: wire.Who()})
	})
	if err != nil {
		return notResolved(reread(ctx, l, run), f.as, err)
	}
	return a.printChange(change{
		verb: "resolve", run: now, was: fmt.Sprintf("%s, verdict %s", run.State, verdictWords(attempt)),
		is: stateLine(now), next: afterResolve(now),
	})
}

// inDoubt finds the attempt that a word would be about, or says why there is none to decide.
func inDoubt(ctx context.Context, l *ledger.Ledger, run ledger.Run) (ledger.Attempt, error) {
	if run.State != ledger.PublishUnknown {
		hint := "loadctl status " + run.Short()
		if run.State == ledger.Publishing {
			hint = "loadctl reconcile " + run.Short() + " shuts its statement out first"
		}
		return ledger.Attempt{}, notAllowed(run, ledger.ErrTransition, fmt.Sprintf("%s is %s: there is nothing to resolve", named(run), run.State), hint)
	}
	attempts, err := l.Attempts(ctx, run.ID)
	if err != nil {
		return ledger.Attempt{}, err
	}
	for _, a := range attempts {
		if a.Token != run.PublishToken {
			continue
		}
		if a.FencedAt == nil {
			return a, notAllowed(run, ledger.ErrTransition, fmt.Sprintf("%s is not fenced, so its statement may still be under way", named(run)), "loadctl reconcile "+run.Short())
		}
		return a, nil
	}
	return ledger.Attempt{}, fmt.Errorf("read the publish of %s: %w", named(run), ledger.ErrNoRun)
}

// verdictWords is a verdict with its reason.
func verdictWords(a ledger.Attempt) string {
	if a.Verdict == "" {
		return "not there yet"
	}
	var judged struct{ Reason string }
	if err := json.Unmarshal(a.JudgedBy, &judged); err != nil || judged.Reason == "" {
		return string(a.Verdict)
	}
	return string(a.Verdict) + " (" + judged.Reason + ")"
}

func afterResolve(r ledger.Run) []next {
	switch r.State {
	case ledger.Published, ledger.StagingValidated:
		return []next{resumeIt(r)}
	}
	return []next{runAgain(r)}
}

// notResolved says why a word was not taken.
func notResolved(r ledger.Run, as string, err error) error {
	why, ok := refusal(err)
	if !ok {
		return err
	}
	return notAllowed(r, err, fmt.Sprintf("%s is %s and is not resolved as %s: %s", named(r), r.State, as, why),
		"loadctl reconcile "+r.Short()+" looks at its target once more and says what it found")
}
