-- +goose Up

-- One row: what this schema is, and the oldest binary that may still use it.
CREATE TABLE loadctl.schema_version (
  one        boolean PRIMARY KEY DEFAULT true CHECK (one),
  version    int NOT NULL CHECK (version > 0),
  min_binary int NOT NULL CHECK (min_binary > 0 AND min_binary <= version)
);
INSERT INTO loadctl.schema_version (version, min_binary) VALUES (1, 1);

-- The history of the write-ahead log that this very database lives on. It changes when a standby is promoted, when a
-- backup is restored, and when the data is loaded into another cluster. timeline() fails on a standby.
-- +goose StatementBegin
CREATE FUNCTION loadctl.timeline() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT system_identifier::text || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) FROM pg_control_system()
$$;
-- +goose StatementEnd

-- One row: who this ledger is, the last timeline that was compared with the marks, and the sweeper's own memory.
CREATE TABLE loadctl.load_ledger (
  one                boolean PRIMARY KEY DEFAULT true CHECK (one),
  id                 uuid NOT NULL DEFAULT gen_random_uuid(),
  compared_timeline  text NOT NULL,
  compared_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  swept_at           timestamptz,
  swept_by           text,
  swept_postmaster   timestamptz,
  swept_timeline     text,
  watch_until        timestamptz
);
INSERT INTO loadctl.load_ledger (compared_timeline) VALUES (loadctl.timeline());

-- state and transition are filled by Migrate from the slices in state.go. Rows are only ever added.
CREATE TABLE loadctl.state (
  name   text PRIMARY KEY CHECK (name <> ''),
  active boolean NOT NULL,
  gated  boolean NOT NULL,
  doc    text NOT NULL,
  UNIQUE (name, active)
);
CREATE TABLE loadctl.transition (
  from_state text NOT NULL,
  event      text NOT NULL CHECK (event <> ''),
  to_state   text NOT NULL REFERENCES loadctl.state,
  doc        text NOT NULL,
  PRIMARY KEY (from_state, event, to_state),
  UNIQUE (from_state, event)
);

-- Jobs that share one SCN and one verdict.
CREATE TABLE loadctl.load_group (
  id              uuid PRIMARY KEY,
  name            text NOT NULL CHECK (name <> ''),
  business_key    text NOT NULL CHECK (business_key <> ''),
  number          int NOT NULL CHECK (number > 0),
  scn             numeric(38,0) CHECK (scn > 0),
  source_identity json,
  together        boolean NOT NULL DEFAULT false,
  created_by      text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (name, business_key, number)
);

CREATE TABLE loadctl.load_run (
  id               uuid PRIMARY KEY CHECK (substr(id::text, 15, 1) = '7'),
  job              text NOT NULL CHECK (job <> '' AND job !~ '[/#[:cntrl:]]'),
  business_key     text NOT NULL CHECK (business_key <> '' AND business_key !~ '[#[:cntrl:]]'),
  number           int  NOT NULL CHECK (number > 0),
  target_id        text NOT NULL CHECK (target_id <> ''),
  source           text NOT NULL CHECK (source <> ''),
  max_sessions     int  NOT NULL CHECK (max_sessions > 0),
  max_attempts     int  NOT NULL CHECK (max_attempts > 0),
  max_workers      int  CHECK (max_workers > 0), -- partitions read at once, over all processes; NULL: as many as sessions
  attempt_root     text NOT NULL CHECK (attempt_root <> '' AND attempt_root !~ '(^|/)\.\.?(/|$)|//|/$'),
  job_spec         json NOT NULL,
  job_digest       text NOT NULL CHECK (job_digest <> ''),
  options          json NOT NULL,
  created_by       text NOT NULL CHECK (created_by <> ''),
  created_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  run_timeout      interval NOT NULL CHECK (run_timeout > interval '0'),
  group_id         uuid REFERENCES loadctl.load_group,

  -- where the run is; tip is always false: it makes the run point at a history row that is not closed
  seq              int  NOT NULL CHECK (seq >= 0),
  state            text NOT NULL,
  active           boolean NOT NULL,
  tip              boolean NOT NULL DEFAULT false CHECK (NOT tip),
  state_since      timestamptz NOT NULL DEFAULT clock_timestamp(),

  -- the plan
  scn              numeric(38,0) CHECK (scn > 0),
  source_identity  json,
  strategy         text,
  plan_detail      json,
  expected_rows    bigint CHECK (expected_rows >= 0),
  window_from      text,
  window_to        text,
  batch_digest     text,
  same_as          uuid REFERENCES loadctl.load_run,

  -- who works on the step
  step             text,
  step_dispatch    bigint,
  step_token       uuid,
  step_owner       text,
  step_lease_until timestamptz,

  sealed_dir       text,
  sealed_at        timestamptz,

  -- the current publish; its evidence is in load_publish
  publish_attempt  int NOT NULL DEFAULT 0 CHECK (publish_attempt >= 0),
  publish_token    uuid,
  target_damaged   boolean NOT NULL DEFAULT false,
  target_outcome   text CHECK (target_outcome IN ('unchanged', 'damaged', 'unverified')),

  cleaned_at       timestamptz,

  UNIQUE (job, business_key, number),
  FOREIGN KEY (state, active) REFERENCES loadctl.state (name, active),
  CONSTRAINT run_planned CHECK (scn IS NOT NULL AND source_identity IS NOT NULL AND strategy IS NOT NULL
    OR state IN ('CREATED', 'FAILED_MANIFEST', 'FAILED_SNAPSHOT_EXPIRED', 'TIMED_OUT', 'CANCELLED')),
  CONSTRAINT run_step CHECK (num_nulls(step, step_dispatch, step_token, step_owner, step_lease_until) IN (0, 5)),
  CONSTRAINT run_step_active CHECK (active OR step IS NULL),
  CONSTRAINT run_publish CHECK (publish_token IS NOT NULL AND publish_attempt > 0
    OR state NOT IN ('PUBLISHING', 'PUBLISH_UNKNOWN', 'PUBLISHED', 'SUCCESS', 'FAILED_PUBLISH', 'FAILED_TARGET_VALIDATION')),
  CONSTRAINT run_outcome CHECK ((state = 'FAILED_PUBLISH') = (target_outcome IS NOT NULL)),
  CONSTRAINT run_damage_not_hidden CHECK (NOT target_damaged OR target_outcome IS DISTINCT FROM 'unchanged'),
  CONSTRAINT run_success_undamaged CHECK (NOT (target_damaged AND state = 'SUCCESS'))
);
CREATE UNIQUE INDEX run_one_active_key ON loadctl.load_run (job, business_key) WHERE active;
CREATE UNIQUE INDEX run_one_active_target ON loadctl.load_run (target_id) WHERE active;
CREATE INDEX run_by_suffix ON loadctl.load_run (reverse(id::text) text_pattern_ops);
CREATE INDEX run_by_age ON loadctl.load_run (created_at DESC);
CREATE INDEX run_damaged ON loadctl.load_run (job, business_key) WHERE target_damaged;

-- The chain of states. A row can only follow a closed one, and a run can only point at an open one, so nothing can be
-- rewound, skipped or put ahead, not even by hand.
CREATE TABLE loadctl.load_history (
  run_id     uuid NOT NULL REFERENCES loadctl.load_run,
  seq        int  NOT NULL CHECK (seq >= 0),
  prev       int  GENERATED ALWAYS AS (CASE WHEN seq = 0 THEN NULL ELSE seq - 1 END) STORED,
  from_state text NOT NULL,
  event      text NOT NULL,
  to_state   text NOT NULL,
  closed     boolean NOT NULL DEFAULT false,
  yes        boolean NOT NULL DEFAULT true CHECK (yes),
  at         timestamptz NOT NULL DEFAULT clock_timestamp(),
  by         text NOT NULL CHECK (by <> ''),
  token      uuid,
  class      text,
  message    text,
  detail     json,
  PRIMARY KEY (run_id, seq),
  UNIQUE (run_id, seq, to_state, closed),
  CHECK ((seq = 0) = (from_state = '')),
  FOREIGN KEY (from_state, event, to_state) REFERENCES loadctl.transition,
  CONSTRAINT history_chain FOREIGN KEY (run_id, prev, from_state, yes)
    REFERENCES loadctl.load_history (run_id, seq, to_state, closed)
);
ALTER TABLE loadctl.load_run ADD CONSTRAINT run_tip FOREIGN KEY (id, seq, state, tip)
  REFERENCES loadctl.load_history (run_id, seq, to_state, closed);

CREATE TABLE loadctl.load_partition (
  run_id        uuid NOT NULL REFERENCES loadctl.load_run,
  idx           int  NOT NULL CHECK (idx >= 0),
  spec          json NOT NULL,
  display       text NOT NULL,
  null_slice    boolean NOT NULL DEFAULT false,
  expected_rows bigint CHECK (expected_rows >= 0),
  state         text NOT NULL CHECK (state IN ('PENDING', 'RUNNING', 'RETRY', 'SUCCESS', 'FAILED', 'VOID')),
  attempts      int  NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  not_before    timestamptz,
  token         uuid UNIQUE,
  worker        text,
  claimed_at    timestamptz,
  heartbeat_at  timestamptz,
  lease_until   timestamptz,
  rows_so_far   bigint CHECK (rows_so_far >= 0),
  finished_at   timestamptz,
  chunks        int CHECK (chunks >= 0),
  rows_read     bigint CHECK (rows_read >= 0),
  ended_at      timestamptz,
  class         text,
  message       text,
  PRIMARY KEY (run_id, idx),
  CONSTRAINT partition_unowned CHECK (state NOT IN ('PENDING', 'RETRY') OR num_nonnulls(token, worker, lease_until, finished_at) = 0),
  CONSTRAINT partition_owned CHECK (state <> 'RUNNING' OR num_nulls(token, worker, claimed_at, heartbeat_at, lease_until) = 0),
  CONSTRAINT partition_finished CHECK (num_nulls(finished_at, chunks, rows_read) IN (0, 3)),
  CONSTRAINT partition_success CHECK (state <> 'SUCCESS' OR finished_at IS NOT NULL AND expected_rows IS NOT NULL AND rows_read = expected_rows),
  CONSTRAINT partition_ended CHECK ((ended_at IS NOT NULL) = (state IN ('SUCCESS', 'FAILED', 'VOID')))
);
CREATE UNIQUE INDEX partition_one_null_slice ON loadctl.load_partition (run_id) WHERE null_slice;
CREATE INDEX partition_open ON loadctl.load_partition (run_id, idx) WHERE state IN ('PENDING', 'RETRY');
CREATE INDEX partition_leased ON loadctl.load_partition (lease_until) WHERE state = 'RUNNING' AND finished_at IS NULL;

-- A row a chunk. A voided row belongs to an attempt that lost; it never counts again.
CREATE TABLE loadctl.load_file (
  run_id      uuid NOT NULL,
  partition   int  NOT NULL,
  token       uuid NOT NULL,
  idx         int  NOT NULL CHECK (idx >= 0),
  path        text NOT NULL CHECK (path <> '' AND path !~ '(^|/)\.\.?(/|$)|//|/$'),
  rows        bigint NOT NULL CHECK (rows >= 0),
  bytes       bigint NOT NULL CHECK (bytes >= 0),
  digest      text NOT NULL CHECK (digest <> ''),
  reported_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  voided_at   timestamptz,
  PRIMARY KEY (run_id, partition, token, idx),
  FOREIGN KEY (run_id, partition) REFERENCES loadctl.load_partition
);
CREATE UNIQUE INDEX file_one_live_index ON loadctl.load_file (run_id, partition, idx) WHERE voided_at IS NULL;
CREATE UNIQUE INDEX file_one_path ON loadctl.load_file (path) WHERE voided_at IS NULL;

-- Metric values as exact text. partition is -1 for the whole run, column_name is '' for what is no column's.
CREATE TABLE loadctl.load_validation (
  run_id      uuid NOT NULL REFERENCES loadctl.load_run,
  stage       text NOT NULL CHECK (stage IN ('source', 'stream', 'sealed', 'staging', 'target')),
  token       uuid NOT NULL,
  partition   int  NOT NULL CHECK (partition >= -1),
  column_name text NOT NULL,
  metric      text NOT NULL CHECK (metric <> ''),
  value       text,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, stage, token, partition, column_name, metric)
);

-- The outbox. A row belongs to the history row that called for it, at most one of a kind.
CREATE TABLE loadctl.load_dispatch (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id     uuid NOT NULL,
  run_seq    int  NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('PLAN', 'VALIDATE_STAGE', 'PUBLISH', 'VALIDATE_TARGET', 'CLEAN', 'NOTIFY')),
  state      text NOT NULL CHECK (state IN ('PENDING', 'ACKED', 'DONE', 'DEAD')),
  due_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempts   int  NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  token      uuid,
  outcome    text,
  payload    json,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  acked_at   timestamptz,
  ended_at   timestamptz,
  UNIQUE (run_id, run_seq, kind),
  FOREIGN KEY (run_id, run_seq) REFERENCES loadctl.load_history,
  CONSTRAINT dispatch_acked CHECK (state <> 'ACKED' OR num_nulls(token, acked_at) = 0),
  CONSTRAINT dispatch_pending CHECK (state <> 'PENDING' OR token IS NULL),
  CONSTRAINT dispatch_ended CHECK ((ended_at IS NOT NULL) = (state IN ('DONE', 'DEAD')))
);
CREATE UNIQUE INDEX dispatch_one_open ON loadctl.load_dispatch (run_id, kind) WHERE state IN ('PENDING', 'ACKED');
CREATE INDEX dispatch_open ON loadctl.load_dispatch (due_at) WHERE state IN ('PENDING', 'ACKED');
ALTER TABLE loadctl.load_run ADD FOREIGN KEY (step_dispatch) REFERENCES loadctl.load_dispatch;

-- A row an attempt to publish: evidence before and after, the session, the fence and the verdict, under its token.
CREATE TABLE loadctl.load_publish (
  run_id       uuid NOT NULL REFERENCES loadctl.load_run,
  attempt      int  NOT NULL CHECK (attempt > 0),
  token        uuid NOT NULL UNIQUE,
  mark         int  CHECK (mark > 0), -- in the store, that the arm was read from; NULL: the ledger has its own
  timeline     text NOT NULL,
  claimed_by   text NOT NULL,
  claimed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  armed_at     timestamptz,
  evidence     json,
  session      json,
  instance     text,
  tag          text,
  operation    json,
  query_id     text,
  progress     json,
  progress_at  timestamptz,
  rows_written bigint CHECK (rows_written >= 0),
  after        json,
  ended_at     timestamptz,
  outcome      text CHECK (outcome IN ('published', 'failed', 'unknown', 'not_armed')),
  fenced_at    timestamptz,
  fence        json,
  observations json,
  verdict      text CHECK (verdict IN ('APPLIED', 'NOT_APPLIED', 'DAMAGED', 'CONFLICT', 'UNDECIDED')),
  verdict_at   timestamptz,
  judged_by    json,
  resolved_as  text CHECK (resolved_as IN ('published', 'failed', 'republish')),
  resolved_at  timestamptz,
  resolved_by  text,
  reason       text,
  PRIMARY KEY (run_id, attempt),
  UNIQUE (run_id, attempt, token),
  CONSTRAINT publish_armed CHECK (armed_at IS NULL OR num_nulls(evidence, session, instance, tag) = 0),
  CONSTRAINT publish_sent CHECK (armed_at IS NOT NULL OR num_nonnulls(operation, query_id, rows_written, after) = 0),
  CONSTRAINT publish_ended CHECK ((ended_at IS NULL) = (outcome IS NULL)),
  CONSTRAINT publish_verdict CHECK (verdict IS NULL OR verdict = 'UNDECIDED' OR fenced_at IS NOT NULL),
  CONSTRAINT publish_judged CHECK ((verdict IS NULL) = (verdict_at IS NULL)),
  CONSTRAINT publish_resolved CHECK (num_nulls(resolved_as, resolved_at, resolved_by, reason) IN (0, 4)),
  CONSTRAINT publish_resolved_fenced CHECK (resolved_as IS NULL OR fenced_at IS NOT NULL),
  CONSTRAINT publish_resolved_proved CHECK (CASE resolved_as
    WHEN 'published' THEN coalesce(verdict NOT IN ('NOT_APPLIED', 'DAMAGED'), true)
    WHEN 'failed' THEN verdict IS DISTINCT FROM 'APPLIED'
    WHEN 'republish' THEN coalesce(verdict IN ('NOT_APPLIED', 'DAMAGED'), false)
    ELSE true END)
);
ALTER TABLE loadctl.load_run ADD CONSTRAINT run_publish_token FOREIGN KEY (id, publish_attempt, publish_token)
  REFERENCES loadctl.load_publish (run_id, attempt, token);

-- Sessions on a source, over all processes: who holds number n until when.
CREATE TABLE loadctl.load_slot (
  source      text NOT NULL CHECK (source <> ''),
  n           int  NOT NULL CHECK (n > 0),
  token       uuid UNIQUE,
  run_id      uuid REFERENCES loadctl.load_run,
  holder      text,
  lease_until timestamptz,
  PRIMARY KEY (source, n),
  CONSTRAINT slot_held CHECK (num_nulls(token, holder, lease_until) IN (0, 3))
);

-- What happened beside the states: notes, alerts, partition events. Only ever added to.
CREATE TABLE loadctl.load_event (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id    uuid REFERENCES loadctl.load_run,
  partition int CHECK (partition >= 0),
  at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  kind      text NOT NULL CHECK (kind IN ('note', 'alert', 'partition', 'publish', 'dispatch')),
  code      text NOT NULL CHECK (code <> ''),
  message   text NOT NULL,
  detail    json,
  by        text NOT NULL CHECK (by <> '')
);
CREATE INDEX event_by_run ON loadctl.load_event (run_id, id);

CREATE TABLE loadctl.load_watermark (
  job        text PRIMARY KEY,
  value      text NOT NULL,
  run_id     uuid NOT NULL REFERENCES loadctl.load_run,
  moved_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE loadctl.load_quarantine (
  id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id    uuid NOT NULL REFERENCES loadctl.load_run,
  partition int  NOT NULL,
  token     uuid NOT NULL,
  row_key   text NOT NULL,
  rule      text NOT NULL CHECK (rule <> ''),
  content   json NOT NULL,
  at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  voided_at timestamptz
);
CREATE INDEX quarantine_by_run ON loadctl.load_quarantine (run_id, id);
