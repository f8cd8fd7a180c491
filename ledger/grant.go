package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// privilege is what the run-time role may do to one table. Nowhere DELETE, TRUNCATE or DDL.
type privilege struct{ table, what string }

// privileges are the run-time role's. An UPDATE names the columns that may change; all others are facts that stay as
// they were inserted, and PostgreSQL refuses to change them.
func privileges() []privilege {
	return []privilege{
		{"schema_version", "SELECT"},
		{"state", "SELECT"},
		{"transition", "SELECT"},
		{"load_ledger", "SELECT, UPDATE (compared_timeline, compared_at, swept_at, swept_by, swept_postmaster, swept_timeline, watch_until)"},
		{"load_group", "SELECT, INSERT, UPDATE (scn, source_identity)"},
		{"load_run", "SELECT, INSERT, UPDATE (seq, state, active, state_since, scn, source_identity, strategy, plan_detail, " +
			"expected_rows, window_from, window_to, batch_digest, same_as, step, step_dispatch, step_token, step_owner, " +
			"step_lease_until, sealed_dir, sealed_at, publish_attempt, publish_token, target_damaged, target_outcome, cleaned_at)"},
		{"load_history", "SELECT, INSERT, UPDATE (closed)"},
		{"load_partition", "SELECT, INSERT, UPDATE (expected_rows, state, attempts, not_before, token, worker, claimed_at, heartbeat_at, " +
			"lease_until, rows_so_far, finished_at, chunks, rows_read, ended_at, class, message)"},
		{"load_file", "SELECT, INSERT, UPDATE (voided_at)"},
		{"load_validation", "SELECT, INSERT"},
		{"load_dispatch", "SELECT, INSERT, UPDATE (state, due_at, attempts, token, outcome, acked_at, ended_at)"},
		{"load_publish", "SELECT, INSERT, UPDATE (mark, armed_at, evidence, session, instance, tag, operation, query_id, progress, progress_at, " +
			"rows_written, after, ended_at, outcome, fenced_at, fence, observations, verdict, verdict_at, " +
			"judged_by, resolved_as, resolved_at, resolved_by, reason)"},
		{"load_slot", "SELECT, INSERT, UPDATE (token, run_id, holder, lease_until)"},
		{"load_event", "SELECT, INSERT"},
		{"load_watermark", "SELECT, INSERT, UPDATE (value, run_id, moved_at)"},
		{"load_quarantine", "SELECT, INSERT, UPDATE (voided_at)"},
	}
}

// grant gives the run-time role exactly its privileges: what an earlier version granted beyond them is taken back.
func grant(ctx context.Context, db querier, role string) error {
	to := pgx.Identifier{role}.Sanitize()
	sqls := []string{
		"REVOKE ALL ON SCHEMA loadctl FROM PUBLIC",
		"REVOKE ALL ON ALL TABLES IN SCHEMA loadctl FROM PUBLIC, " + to,
		"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA loadctl FROM PUBLIC",
		"GRANT USAGE ON SCHEMA loadctl TO " + to,
		"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA loadctl TO " + to,
	}
	for _, p := range privileges() {
		sqls = append(sqls, fmt.Sprintf("GRANT %s ON loadctl.%s TO %s", p.what, pgx.Identifier{p.table}.Sanitize(), to))
	}
	for _, s := range sqls {
		if _, err := db.Exec(ctx, s); err != nil {
			return fmt.Errorf("grant to %s: %w", role, err)
		}
	}
	return nil
}
