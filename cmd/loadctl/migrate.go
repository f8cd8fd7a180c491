package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/loadctl/loadctl/cmd/internal/wire"
	"github.com/loadctl/loadctl/config"
	"github.com/loadctl/loadctl/ledger"
)

const migrateExample = `  loadctl migrate                                                     as ledger.migrate in the daemon file says
  loadctl migrate --as loadctl_owner --password '${env:OWNER_PASSWORD}' --role loadctl`

func (a *app) migrateCommand() *cobra.Command {
	var m wire.Migration
	var password string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the ledger's schema to this program's version; may be repeated",
		Long: "Migrate creates or updates the schema loadctl in the ledger's database, under the role that owns it, and gives the\n" +
			"run-time role its privileges: no DELETE, no DDL. Both roles and the database must exist. A repeat changes nothing.",
		Example: migrateExample,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if password != "" {
				if err := m.Owner.Password.UnmarshalText([]byte(password)); err != nil {
					return usage("--password: %v", err)
				}
			}
			if password != "" && m.Owner.User == "" {
				return usage("--password is that of --as, which is missing")
			}
			return a.migrate(cmd.Context(), m)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&m.Owner.User, "as", "", "role that owns the schema (ledger.migrate.user)")
	fs.StringVar(&password, "password", "", "its password, as a reference: ${env:NAME} or ${file:/path}")
	fs.StringVar(&m.Runtime, "role", "", "role that runs loads (ledger.user)")
	return cmd
}

// migrateJSON is the document of migrate.
type migrateJSON struct {
	Schema  string `json:"schema"`
	Changed bool   `json:"changed"`
	Version int    `json:"version"`
	Owner   string `json:"owner"`
	Runtime string `json:"runtime_role"`
}

func (a *app) migrate(ctx context.Context, m wire.Migration) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	done, err := wire.Migrate(ctx, cfg, m, a.logger())
	if err != nil {
		return migrateHint(done, err)
	}
	if a.json() {
		return a.printJSON(migrateJSON{Schema, !done.Current, done.Version, done.Owner, done.Runtime})
	}
	was := "was older or not there"
	if done.Current {
		was = "was up to date"
	}
	a.say("ledger %s: schema loadctl %s, is at version %d, owned by %s", databaseText(cfg.Daemon.Ledger), was, done.Version, done.Owner)
	a.say("role %s has the privileges that runs need and no more", done.Runtime)
	a.note("next: loadctl check --connect")
	return nil
}

func databaseText(l config.Ledger) string { return l.Database + " on " + l.Host }

// migrateHint says what to make when a role is missing or unfit.
func migrateHint(m wire.Migrated, err error) error {
	switch {
	case errors.Is(err, ledger.ErrRole):
		return withHint(err, "ledger.migrate.user (or --as) owns the schema, ledger.user (or --role) runs loads: two roles, made by the database's administrator")
	case errors.Is(err, ledger.ErrPrivilege):
		return withHint(err, "let the administrator run: GRANT CREATE ON DATABASE … TO "+m.Owner)
	case errors.Is(err, ledger.ErrNoDatabase):
		return withHint(err, "let the administrator run: CREATE DATABASE … OWNER "+m.Owner)
	}
	return err
}
