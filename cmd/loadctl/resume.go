package main

import (
	"time"

	"github.com/spf13/cobra"
)

const resumeExample = `  loadctl resume INSP_DTL/2026-09-28    the newest run of that date, however it was left
  loadctl resume 7be13d -q              from cron: one line, or an error`

func (a *app) resumeCommand() *cobra.Command {
	f := runFlags{}
	cmd := &cobra.Command{
		Use:   "resume RUN",
		Short: "Drive a run that exists to its end, as run --attach does",
		Long: "Resume works on a run that was made before: by a command that was killed or interrupted, or by run --detach. What a\n" +
			"dead process held is taken over once its lease has run out (recovery.stale); nothing that was read is read again.\n" +
			"Others may work on the same run at the same time.",
		Example:           resumeExample,
		Args:              oneRun,
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.attach = args[0]
			return a.run(cmd.Context(), f)
		},
	}
	cmd.Flags().DurationVar(&f.progress, "progress", time.Minute, "pause between lines of progress off a terminal; 0: boundaries only")
	return cmd
}
