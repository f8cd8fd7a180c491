package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/ledger"
)

// advice is what the person on call does about a state that can last. RUN stands for the run's short id.
type advice struct {
	state ledger.State
	look  string // where the reason is
	do    string
	never string // what makes it worse
}

// advices are printed by "loadctl help recovery" and are the table of docs/recovery.md. A test holds them against the
// ledger's states.
var advices = []advice{
	{ledger.Created, "`status RUN`: nobody plans it, or planning fails again and again (`events RUN` says why)",
		"`resume RUN`; if its step was given up: `resend RUN` once the cause is gone", "make a second run: it is refused"},
	{ledger.Extracting, "`status RUN`: which partition, whose worker, since when",
		"`resume RUN`; lost partitions come back by themselves after recovery.stale, at once by `reissue RUN`", "delete its files: what was read is kept and used"},
	{ledger.ExtractedValidated, "`status RUN`: nobody does its next step, or it fails again and again",
		"`resume RUN`; if its step was given up: `resend RUN`", "`cancel` it for lack of patience: extraction is the long part, and is done"},
	{ledger.StageValidating, "`events RUN`: the warehouse is slow or away, or the owner died and its lease runs",
		"wait for step_lease, then `resume RUN`", "move or delete files of its directory"},
	{ledger.StagingValidated, "`events RUN`: publishing was prepared and did not begin; the reason is there. Or the ledger waits for a comparison",
		"remove the cause, then `resend RUN` and `resume RUN`; on LEDGER_TIMELINE: `reconcile --ledger`", "publish the files by hand"},
	{ledger.Publishing, "`status RUN`: its query id; then the warehouse's own view of that query",
		"wait while the query runs. Owner gone: after publish_stale it becomes PUBLISH_UNKNOWN or goes back by itself; sooner by `reconcile RUN`", "kill the query in the warehouse to save time: what it did is then in doubt"},
	{ledger.PublishUnknown, "`reconcile RUN`: fence, evidence, verdict",
		"the command that it prints: `resolve RUN --as … --reason …`", "write to the target, drop it, or run the statement by hand: that destroys the evidence"},
	{ledger.Published, "`events RUN`: the target changed, its validation waits for the warehouse",
		"`resume RUN`; if its step was given up: `resend RUN`", "tell readers that it is verified"},
	{ledger.FailedManifest, "`status RUN`: which invariant; EMPTY_REFUSED: there were no rows",
		"EMPTY_REFUSED and right: allow_empty in the job. Else keep the output of `plan` and report it", "set allow_empty to get rid of the message"},
	{ledger.FailedSnapshotExpired, "`status RUN`: how long it ran; undo retention of the source",
		"a new run; if it recurs: longer UNDO_RETENTION, more workers, a quieter hour", "ask for the old SCN again"},
	{ledger.FailedExtract, "`status RUN`: partition, attempt, the source's own error",
		"remove the cause, then a new run", ""},
	{ledger.FailedStageValidation, "`status RUN`: the metric with both values",
		"keep its files (they are kept for retention.failed) and report it; a new run", "publish it anyway"},
	{ledger.FailedPublish, "`status RUN`: target unchanged, damaged or unverified",
		"unchanged: remove the cause, a new run. damaged or unverified: a new run at once, and tell the readers", "trust a target that is damaged or unverified"},
	{ledger.FailedTarget, "`status RUN`: the metric with both values; who else writes this target",
		"a new run; tell the readers until it has succeeded", "trust the target"},
	{ledger.TimedOut, "`events RUN`: what it waited for; `status RUN`: whether an earlier publish of it damaged the target",
		"a new run; if it recurs: a longer run_timeout or more workers", ""},
	{ledger.Cancelled, "`events RUN`: by whom and why; `status RUN`: whether an earlier publish of it damaged the target",
		"a new run, when the reason is gone", ""},
}

func adviceOn(s ledger.State) (advice, bool) {
	for _, v := range advices {
		if v.state == s {
			return v, true
		}
	}
	return advice{}, false
}

// recoveryTopic is "loadctl help recovery". It has no Run: cobra takes it for a topic, not a verb.
func recoveryTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("What to do about a run that stays where it is, or ended badly. Killing any process of loadctl loses nothing: the ledger\n" +
		"has all that was done, and \"loadctl resume RUN\" goes on with it.\n")
	plain := strings.NewReplacer("`", "")
	for _, v := range advices {
		row, _ := ledger.Lookup(v.state)
		fmt.Fprintf(&b, "\n%s: %s\n", v.state, row.Doc)
		fmt.Fprintf(&b, "  look   %s\n  do     %s\n", plain.Replace(v.look), plain.Replace(v.do))
		if v.never != "" {
			fmt.Fprintf(&b, "  never  %s\n", plain.Replace(v.never))
		}
	}
	return &cobra.Command{Use: "recovery", Short: "What to do about a run that hangs or failed", Long: b.String()}
}

// recoveryTable is the table of docs/recovery.md.
func recoveryTable() string {
	var b strings.Builder
	b.WriteString("| state | what it means | where to look | what to do | what not to do |\n|---|---|---|---|---|\n")
	for _, s := range ledger.States {
		v, ok := adviceOn(s.Name)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Name, s.Doc, v.look, v.do, v.never)
	}
	return b.String()
}
