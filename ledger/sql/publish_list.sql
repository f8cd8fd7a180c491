SELECT attempt AS number, token, timeline, claimed_by, claimed_at, armed_at, evidence, session,
       coalesce(instance, '') AS instance, coalesce(tag, '') AS tag, operation, coalesce(query_id, '') AS query_id, progress,
       rows_written, after, ended_at, coalesce(outcome, '') AS outcome
  FROM loadctl.load_publish WHERE run_id = @run ORDER BY attempt
