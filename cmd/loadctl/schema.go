package main

import (
	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/config"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema daemon|job",
		Short:     "Print the JSON schema of a configuration file, for editors",
		Example:   "  loadctl schema job > job.schema.json",
		ValidArgs: []string{string(config.KindDaemon), string(config.KindJob)},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("%s wants one word: daemon or job", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := config.Schema(config.Kind(args[0]))
			if err != nil {
				return usage("%v", err)
			}
			_, err = a.Out.Write(text)
			return err
		},
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			if a.json() {
				return a.printJSON(map[string]string{"schema": Schema, "version": version()})
			}
			a.say("loadctl %s", version())
			return nil
		},
	}
}
