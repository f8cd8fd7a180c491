package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/pipeline"
	"github.com/loadctl/loadctl/publish"
)

const reconcileExample = `  loadctl reconcile INSP_DTL/2026-09-28       what did its publish do? then: loadctl resolve
  loadctl reconcile 7be13d --instance-dead    the HiveServer2 that ran it is gone for good
  loadctl reconcile --ledger                  after a fail-over or a restore of PostgreSQL
  loadctl reconcile --ledger --distrust --reason "its disk was restored"   when PostgreSQL itself cannot tell`

// reconcileFlags say how to look.
type reconcileFlags struct {
	settle time.Duration
	dead   bool
	ledger bool

	distrust bool
	reason   string
	consent
}

func (a *app) reconcileCommand() *cobra.Command {
	var f reconcileFlags
	cmd := &cobra.Command{
		Use:   "reconcile RUN | --ledger",
		Short: "Find out what a publish of unknown outcome did",
		Long: "Reconcile first shuts the statement out: nothing can be sent any more, and its session is closed on the very server\n" +
			"that has it. Then it looks at the target, twice, --settle apart, and says what the evidence proves: APPLIED, NOT_APPLIED,\n" +
			"DAMAGED, CONFLICT or UNDECIDED (exit code 4), and which commands make sense now. It changes nothing at the target and\n" +
			"may be repeated. With publish_unknown: prove, APPLIED and NOT_APPLIED also resolve the run.\n\n" +
			"With --ledger it compares the ledger with the marks that publishes left in the store. That is due when PostgreSQL may\n" +
			"have lost its last transactions; a daemon does it by itself. Until then nothing is published and nothing deleted.\n" +
			"PostgreSQL tells of a fail-over, a restored backup, and a dump in another server. Of a disk that was set back, or a dump\n" +
			"loaded into the same server, it cannot tell: --distrust says so.",
		Example:           reconcileExample,
		ValidArgsFunction: a.completeRuns,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.ledger {
				return noArgs(cmd, args)
			}
			return oneRun(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("settle") && f.settle <= 0 {
				return usage("--settle %s: want more than 0", f.settle)
			}
			if f.distrust && !f.ledger {
				return usage("--distrust is of the ledger: give --ledger too")
			}
			if f.distrust {
				if err := reasoned(f.reason); err != nil {
					return err
				}
			}
			cfg, err := a.load()
			if err != nil {
				return err
			}
			return a.with(cmd.Context(), cfg, func(env *pipeline.Env) error {
				if f.ledger {
					return a.reconcileLedger(cmd.Context(), env, f)
				}
				return a.reconcile(cmd.Context(), env, args[0], f)
			})
		},
	}
	fs := cmd.Flags()
	fs.DurationVar(&f.settle, "settle", 0, "how long the target must look the same; default: recovery.publish_settle")
	fs.BoolVar(&f.dead, "instance-dead", false, "take your word that the server which ran the statement is gone for good")
	fs.BoolVar(&f.ledger, "ledger", false, "compare the ledger with the marks in the store")
	fs.BoolVar(&f.distrust, "distrust", false, "with --ledger: the ledger was set back, although PostgreSQL does not tell")
	fs.StringVar(&f.reason, "reason", "", "of --distrust; kept in the ledger")
	f.flags(fs)
	return cmd
}

func (f reconcileFlags) options(env *pipeline.Env) pipeline.ReconcileOptions {
	o := pipeline.ReconcileOptions{Settle: f.settle, InstanceDead: f.dead, By: wire.Who()}
	if o.Settle == 0 {
		o.Settle = env.Recovery.Settle
	}
	return o
}

func (a *app) reconcile(ctx context.Context, env *pipeline.Env, ref string, f reconcileFlags) error {
	run, err := env.Ledger.Find(ctx, ref)
	if err != nil {
		return findError(ref, err)
	}
	if err := a.mayReconcile(ctx, run, f); err != nil {
		return err
	}
	o := f.options(env)
	a.note("%s closing the session of %s, then looking at its target twice, %s apart", clockTime(a.now()), named(run), o.Settle)
	look := env.Reconcile
	if env.Recovery.Prove {
		look = env.Prove
	}
	found, err := look(ctx, run.ID, o)
	if err != nil {
		return notReconciled(reread(ctx, env.Ledger, run), err)
	}
	if err := a.printReconciled(found); err != nil {
		return err
	}
	if found.Verdict == publish.Undecided {
		return &failure{err: pipeline.ErrPublishUnknown, text: named(found.Run) + " is still undecided: " + found.Reason, run: run.ID.String(), hint: hintOf(found)[0].command}
	}
	return nil
}

// mayReconcile refuses a run that has no publish in doubt, and asks before a publish that goes well is broken off.
func (a *app) mayReconcile(ctx context.Context, run ledger.Run, f reconcileFlags) error {
	switch {
	case run.State == ledger.PublishUnknown:
		return nil
	case run.State != ledger.Publishing:
		return notAllowed(run, ledger.ErrTransition, fmt.Sprintf("%s is %s: it has no publish in doubt", named(run), run.State), "loadctl status "+run.Short())
	case run.StepOwner == "" || run.StepLeaseUntil.Before(a.now()):
		return nil // its publisher is gone
	}
	return a.agree(ctx, f.consent, fmt.Sprintf("%s is being published by %s, which was heard of lately. Break it off and see what it did?", named(run), run.StepOwner))
}

// notReconciled says why there is no verdict.
func notReconciled(r ledger.Run, err error) error {
	why, ok := refusal(err)
	if ok {
		return notAllowed(r, err, fmt.Sprintf("%s is %s: %s", named(r), r.State, why), "loadctl status "+r.Short())
	}
	return &failure{err: err, run: r.ID.String(), text: fmt.Sprintf("%s stays %s: %v", named(r), r.State, err)}
}

// reconciledJSON is the document of reconcile.
type reconciledJSON struct {
	Schema  string            `json:"schema"`
	Run     runJSON           `json:"run"`
	Fenced  bool              `json:"fenced"`
	Fence   string            `json:"fence"`
	Verdict publish.Verdict   `json:"verdict"`
	Reason  string            `json:"reason"`
	Before  publish.Evidence  `json:"before"`
	Now     *publish.Evidence `json:"now"` // null: not looked at
	Staged  int64             `json:"staged_rows"`
	Next    []nextJSON        `json:"next"`
}

func (a *app) printReconciled(found pipeline.Reconciled) error {
	hint := hintOf(found)
	if a.json() {
		return a.printJSON(reconciledJSON{
			Schema, runOf(found.Run), found.Fenced, found.Fence, found.Verdict, found.Reason, found.Before, found.Now, found.Staged, nextOf(hint),
		})
	}
	word := "fenced  "
	if !found.Fenced {
		word = "NOT fenced"
	}
	a.say("%s %s", word, found.Fence)
	if found.Now != nil {
		a.say("observed %s", observed(found))
	}
	a.say("verdict  %s: %s", a.paint("1", string(found.Verdict)), found.Reason)
	if found.Run.State != ledger.PublishUnknown {
		a.say("is       %s", stateLine(found.Run))
	}
	a.printNext("hint:    ", hint)
	return nil
}

// observed compares the target with what it was.
func observed(found pipeline.Reconciled) string {
	b, n := found.Before, *found.Now
	location := "location as before"
	switch {
	case b.Location == "" && n.Location != "":
		location = "not there before, now at " + n.Location
	case n.Location == "":
		location = "not there"
	case b.Location != n.Location:
		location = fmt.Sprintf("location %s, before %s", n.Location, b.Location)
	}
	kept, gone, added := b.Changes(n)
	text := fmt.Sprintf("%s: %s; %s: %d as before, %d new; %d of those before are gone", found.Run.TargetID, location, plural(len(n.Files), "file"), kept, added, gone)
	if n.Rows >= 0 {
		text += fmt.Sprintf("; rows %s, staged %s", count(n.Rows), count(found.Staged))
	}
	return text
}

// hintOf is what makes sense after a verdict, the most sensible first.
func hintOf(found pipeline.Reconciled) []next {
	r := found.Run
	resolve := func(as ledger.ResolveAs, why string) next {
		return next{fmt.Sprintf("loadctl resolve %s --as %s --reason %q", r.Short(), as, "reconcile says "+string(found.Verdict)), why}
	}
	if r.State != ledger.PublishUnknown {
		return afterResolve(r)
	}
	switch found.Verdict {
	case publish.Applied:
		return []next{resolve(ledger.AsPublished, "then the target is validated: loadctl resume "+r.Short())}
	case publish.NotApplied:
		return []next{resolve(ledger.AsFailed, "then: "+runAgain(r).command), resolve(ledger.AsRepublish, "or publish the sealed data, of scn "+r.SCN+", once more")}
	case publish.Damaged:
		return []next{resolve(ledger.AsRepublish, "puts the sealed data in place of the damage; then: loadctl resume "+r.Short()),
			resolve(ledger.AsFailed, "or leave the target damaged, and load anew: "+runAgain(r).command)}
	case publish.Conflict:
		return []next{{"loadctl events " + r.Short(), "find out who else wrote the target"},
			resolve(ledger.AsFailed, "then load anew: "+runAgain(r).command)}
	}
	again := "loadctl reconcile " + r.Short()
	if !found.Fenced {
		return []next{{again, "once its server answers again"}, {again + " --instance-dead", "if that server is gone for good"}}
	}
	return []next{{again, "once nobody writes to the target"}}
}
