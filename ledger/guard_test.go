package ledger_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loadctl/loadctl/ledger"
	"github.com/loadctl/loadctl/ledger/ledgertest"
)

// SQLSTATEs of the walls.
const (
	foreignKey = "23503"
	unique     = "23505"
	checked    = "23514"
	notNull    = "23502"
	privilege  = "42501"
	generated  = "428C9"
)

// handTyped are statements that somebody may type under the run-time role against a run (id $1) that is PUBLISHED at
// seq 6. Each is refused by PostgreSQL itself, with the SQLSTATE, and the wall that says no.
var handTyped = []struct{ name, sql, code, wall string }{
	// the state machine
	{"bare update", "UPDATE loadctl.load_run SET state = 'SUCCESS', active = false WHERE id = $1", foreignKey, "run_tip"},
	{"wrong active", "UPDATE loadctl.load_run SET active = false WHERE id = $1", foreignKey, "load_run_state_active_fkey"},
	{"unknown state", "UPDATE loadctl.load_run SET state = 'DONE' WHERE id = $1", foreignKey, ""},
	{"null state", "UPDATE loadctl.load_run SET state = NULL WHERE id = $1", notNull, ""},
	{"null active", "UPDATE loadctl.load_run SET active = NULL WHERE id = $1", notNull, ""},
	{"null seq", "UPDATE loadctl.load_run SET seq = NULL WHERE id = $1", notNull, ""},
	{"tip", "UPDATE loadctl.load_run SET tip = true WHERE id = $1", privilege, ""},
	{"rewind", "UPDATE loadctl.load_run SET seq = 4, state = 'STAGING_VALIDATED' WHERE id = $1", foreignKey, "run_tip"},
	{"rewind by reopening", "UPDATE loadctl.load_history SET closed = false WHERE run_id = $1 AND seq = 4", foreignKey, "history_chain"},
	{"close the tip", "UPDATE loadctl.load_history SET closed = true WHERE run_id = $1 AND seq = 6", foreignKey, "run_tip"},
	{"event ahead", "INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) VALUES ($1, 7, 'PUBLISHED', 'verified', 'SUCCESS', 'me')", foreignKey, "history_chain"},
	{"event far ahead", "INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) VALUES ($1, 9, 'PUBLISHED', 'verified', 'SUCCESS', 'me')", foreignKey, "history_chain"},
	{"second event", "INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) VALUES ($1, 6, 'PUBLISHING', 'publish_unknown', 'PUBLISH_UNKNOWN', 'me')", unique, ""},
	{"second beginning", "INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) VALUES ($1, 0, '', 'submit', 'CREATED', 'me')", unique, ""},
	{"beginning in the middle", "INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) VALUES ($1, 7, '', 'submit', 'CREATED', 'me')", checked, ""},
	{"unlisted edge", advance("PUBLISHED", "verified", "CREATED"), foreignKey, "load_history_from_state_event_to_state_fkey"},
	{"edge of another state", advance("PUBLISHING", "publish_unknown", "PUBLISH_UNKNOWN"), foreignKey, ""},
	{"null event", advance("PUBLISHED", "", "SUCCESS"), notNull, ""},
	{"rewritten history", "UPDATE loadctl.load_history SET to_state = 'SUCCESS' WHERE run_id = $1 AND seq = 6", privilege, ""},
	{"rewritten time", "UPDATE loadctl.load_history SET at = now() WHERE run_id = $1", privilege, ""},
	{"generated prev", "INSERT INTO loadctl.load_history (run_id, seq, prev, from_state, event, to_state, by) VALUES ($1, 7, NULL, 'PUBLISHED', 'verified', 'SUCCESS', 'me')", generated, ""},
	{"a yes that is no", "INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by, yes) VALUES ($1, 7, 'PUBLISHED', 'verified', 'SUCCESS', 'me', false)", checked, ""},

	// facts that do not change
	{"another job", "UPDATE loadctl.load_run SET job_spec = '{}' WHERE id = $1", privilege, ""},
	{"another target", "UPDATE loadctl.load_run SET target_id = 'other' WHERE id = $1", privilege, ""},
	{"another chunk", "UPDATE loadctl.load_file SET rows = 0 WHERE run_id = $1", privilege, ""},
	{"another metric", "UPDATE loadctl.load_validation SET value = '0' WHERE run_id = $1", privilege, ""},
	{"another word", "UPDATE loadctl.load_event SET message = '' WHERE run_id = $1", privilege, ""},
	{"another slice", "UPDATE loadctl.load_partition SET spec = '{}' WHERE run_id = $1", privilege, ""},
	{"another token", "UPDATE loadctl.load_publish SET token = gen_random_uuid() WHERE run_id = $1", privilege, ""},

	// nothing is removed, nothing is defined, the tables of states are read only
	{"delete run", "DELETE FROM loadctl.load_run WHERE id = $1", privilege, ""},
	{"delete history", "DELETE FROM loadctl.load_history WHERE run_id = $1", privilege, ""},
	{"delete file", "DELETE FROM loadctl.load_file WHERE run_id = $1", privilege, ""},
	{"truncate", "TRUNCATE loadctl.load_event", privilege, ""},
	{"drop", "DROP TABLE loadctl.load_slot", privilege, ""},
	{"alter", "ALTER TABLE loadctl.load_run DROP CONSTRAINT run_tip", privilege, ""},
	{"create", "CREATE TABLE loadctl.mine (n int)", privilege, ""},
	{"new edge", "INSERT INTO loadctl.transition VALUES ('SUCCESS', 'again', 'CREATED', '')", privilege, ""},
	{"new state", "INSERT INTO loadctl.state VALUES ('MINE', true, false, '')", privilege, ""},
	{"open state", "UPDATE loadctl.state SET active = false WHERE name = 'PUBLISHED'", privilege, ""},
	{"version", "UPDATE loadctl.schema_version SET min_binary = 1", privilege, ""},
	{"migrations", "DELETE FROM loadctl.migration", privilege, ""},

	// facts as constraints
	{"half a step", "UPDATE loadctl.load_run SET step_token = gen_random_uuid() WHERE id = $1", checked, "run_step"},
	{"an end without a reason", "UPDATE loadctl.load_run SET target_outcome = 'unchanged' WHERE id = $1", checked, "run_outcome"},
	{"no plan", "UPDATE loadctl.load_run SET scn = NULL WHERE id = $1", checked, "run_planned"},
	{"no publish token", "UPDATE loadctl.load_run SET publish_token = NULL WHERE id = $1", checked, "run_publish"},
	{"a publish token of nobody", "UPDATE loadctl.load_run SET publish_token = gen_random_uuid() WHERE id = $1", foreignKey, "run_publish_token"},
	{"success without its rows", "UPDATE loadctl.load_partition SET rows_read = rows_read + 1 WHERE run_id = $1 AND idx = 0", checked, "partition_success"},
	{"an owner without a token", "UPDATE loadctl.load_partition SET state = 'RUNNING', ended_at = NULL, token = NULL WHERE run_id = $1 AND idx = 0", checked, "partition_owned"},
	{"pending with a token", "UPDATE loadctl.load_partition SET state = 'PENDING', ended_at = NULL WHERE run_id = $1 AND idx = 0", checked, "partition_unowned"},
	{"unarmed after it was sent", "UPDATE loadctl.load_publish SET armed_at = NULL WHERE run_id = $1", checked, "publish_sent"},
	{"armed without evidence", "UPDATE loadctl.load_publish SET evidence = NULL WHERE run_id = $1", checked, "publish_armed"},
	{"verdict without a fence", "UPDATE loadctl.load_publish SET verdict = 'APPLIED', verdict_at = now() WHERE run_id = $1", checked, "publish_verdict"},
	{"resolved without a reason", "UPDATE loadctl.load_publish SET resolved_as = 'failed' WHERE run_id = $1", checked, "publish_resolved"},
	{"resolved without a fence", resolve("published", "verdict = 'UNDECIDED', verdict_at = now()"), checked, "publish_resolved_fenced"},
	{"published against the verdict", resolve("published", "fenced_at = now(), verdict = 'NOT_APPLIED', verdict_at = now()"), checked, "publish_resolved_proved"},
	{"failed against the verdict", resolve("failed", "fenced_at = now(), verdict = 'APPLIED', verdict_at = now()"), checked, "publish_resolved_proved"},
	{"republished without a verdict", resolve("republish", "fenced_at = now()"), checked, "publish_resolved_proved"},
	{"second chunk of an index", "INSERT INTO loadctl.load_file (run_id, partition, token, idx, path, rows, bytes, digest) VALUES ($1, 0, gen_random_uuid(), 0, 'x', 1, 1, 'd')", unique, "file_one_live_index"},
	{"second dispatch", "INSERT INTO loadctl.load_dispatch (run_id, run_seq, kind, state) VALUES ($1, 6, 'VALIDATE_TARGET', 'PENDING')", unique, ""},
	{"dispatch of nothing", "INSERT INTO loadctl.load_dispatch (run_id, run_seq, kind, state) VALUES ($1, 77, 'PUBLISH', 'PENDING')", foreignKey, ""},
}

// resolve is a statement that resolves a publish, typed by hand.
func resolve(as, more string) string {
	return "UPDATE loadctl.load_publish SET resolved_as = '" + as + "', resolved_at = now(), resolved_by = 'me', reason = 'so', " + more + " WHERE run_id = $1"
}

// advance is the statement that moves a run from PUBLISHED, typed by hand.
func advance(from, event, to string) string {
	ev := "'" + event + "'"
	if event == "" {
		ev = "NULL"
	}
	return `WITH u AS (UPDATE loadctl.load_run SET seq = seq + 1, state = '` + to + `', active = (SELECT active FROM loadctl.state WHERE name = '` + to + `')
  WHERE id = $1 RETURNING id, seq), c AS (UPDATE loadctl.load_history h SET closed = true FROM u WHERE h.run_id = u.id AND h.seq = u.seq - 1)
INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) SELECT id, seq, '` + from + `', ` + ev + `, '` + to + `', 'me' FROM u`
}

func TestHandTypedChangesAreRefused(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	run := published(t, l, "j")
	conn, err := pgx.Connect(t.Context(), db.DSN)
	check(t, err)
	defer conn.Close(t.Context())
	before := snapshot(t, db)
	for _, h := range handTyped {
		args := []any{}
		if strings.Contains(h.sql, "$1") {
			args = append(args, run.ID)
		}
		tag, err := conn.Exec(t.Context(), h.sql, args...)
		var pg *pgconn.PgError
		switch {
		case !errors.As(err, &pg):
			t.Errorf("%s: %v, %v, want refused", h.name, tag, err)
		case pg.Code != h.code || h.wall != "" && pg.ConstraintName != h.wall:
			t.Errorf("%s: %s %s (%s), want %s %s", h.name, pg.Code, pg.ConstraintName, pg.Message, h.code, h.wall)
		}
	}
	if after := snapshot(t, db); after != before {
		t.Errorf("the ledger changed:\n%s\nwas\n%s", after, before)
	}
	// The one way on still is open.
	if _, err := conn.Exec(t.Context(), advance("PUBLISHED", "verified", "SUCCESS"), run.ID); err != nil {
		t.Errorf("the legal step: %v", err)
	}
}

func snapshot(t *testing.T, db ledgertest.Database) string {
	t.Helper()
	return ask[string](t, db, `SELECT (SELECT string_agg(r::text, chr(10)) FROM loadctl.load_run r) || (SELECT string_agg(h::text, chr(10) ORDER BY seq) FROM loadctl.load_history h)
    || (SELECT string_agg(p::text, chr(10) ORDER BY idx) FROM loadctl.load_partition p) || (SELECT string_agg(d::text, chr(10) ORDER BY id) FROM loadctl.load_dispatch d)`)
}

// A run that ended cannot be brought back to life beside its successor, even with a legal looking history.
func TestOneActiveRunByHand(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	submit(t, l, "j")
	conn, err := pgx.Connect(t.Context(), db.DSN)
	check(t, err)
	defer conn.Close(t.Context())
	for wall, target := range map[string]string{"run_one_active_key": "other", "run_one_active_target": "wh/j"} {
		job := "j"
		if wall == "run_one_active_target" {
			job = "k"
		}
		id, err := ledger.NewRunID()
		check(t, err)
		_, err = conn.Exec(t.Context(), `WITH r AS (INSERT INTO loadctl.load_run (id, job, business_key, number, target_id, source, max_sessions, max_attempts,
  attempt_root, job_spec, job_digest, options, created_by, run_timeout, seq, state, active)
  VALUES ($1, $2, '2026-09-28', 2, $3, 's', 1, 1, 'r', '{}', 'd', '{}', 'me', '1 h', 0, 'CREATED', true))
INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by) VALUES ($1, 0, '', 'submit', 'CREATED', 'me')`, id, job, target)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.ConstraintName != wall {
			t.Errorf("second active run: %v, want refused by %s", err, wall)
		}
	}
}

// Damage is not hidden: no end of a run may say unchanged or SUCCESS while its target is damaged.
func TestDamageIsNotHiddenByHand(t *testing.T) {
	t.Parallel()
	l, db := open(t)
	o := armed(t, l, "j")
	run := must(t)(l.PublishResult(t.Context(), o.Hold, ledger.Result{Event: ledger.EventPublishFailed, Target: ledger.TargetDamaged, Message: "half moved"}))
	if !run.TargetDamaged || run.TargetOutcome != ledger.TargetDamaged {
		t.Fatalf("run %+v, want damaged", run)
	}
	conn, err := pgx.Connect(t.Context(), db.DSN)
	check(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "UPDATE loadctl.load_run SET target_outcome = 'unchanged' WHERE id = $1", run.ID)
	var pg *pgconn.PgError
	if !errors.As(err, &pg) || pg.ConstraintName != "run_damage_not_hidden" {
		t.Fatalf("saying unchanged: %v, want refused by run_damage_not_hidden", err)
	}
}

// Every table is covered by the privileges, and none of them lets anything be deleted.
func TestRuntimeRoleHasOnlyItsPrivileges(t *testing.T) {
	t.Parallel()
	db := ledgertest.New(t)
	for _, what := range []string{"DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"} {
		got := ask[string](t, db, `SELECT coalesce(string_agg(c.relname, ' '), '') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'loadctl' AND c.relkind IN ('r', 'v') AND has_table_privilege($1, c.oid, $2)`, ledgertest.Runtime, what)
		if got != "" {
			t.Errorf("the run-time role has %s on %s", what, got)
		}
	}
	got := ask[string](t, db, `SELECT coalesce(string_agg(c.relname, ' ' ORDER BY c.relname), '') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'loadctl' AND c.relkind = 'r' AND NOT has_table_privilege($1, c.oid, 'SELECT')`, ledgertest.Runtime)
	if got != "migration" {
		t.Errorf("tables that the run-time role cannot read: %s, want migration only", got)
	}
	if ask[bool](t, db, "SELECT has_schema_privilege($1, 'loadctl', 'CREATE')", ledgertest.Runtime) {
		t.Error("the run-time role may create tables")
	}
}
