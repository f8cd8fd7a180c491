SELECT attempt AS number, token, timeline, claimed_by, claimed_at, armed_at, evidence, session,
       coalesce(instance, '') AS instance, coalesce(tag, '') AS tag, operation, coalesce(query_id, '') AS query_id, progress,
       rows_written, after, ended_at, coalesce(outcome, '') AS outcome, mark, fenced_at, fence, observations,
       coalesce(verdict, '') AS verdict, verdict_at, judged_by, coalesce(resolved_as, '') AS resolved_as, resolved_at,
       coalesce(resolved_by, '') AS resolved_by, coalesce(reason, '') AS reason
  FROM loadctl.load_publish WHERE run_id = @run ORDER BY attempt
