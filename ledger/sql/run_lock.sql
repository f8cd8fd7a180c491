SELECT id, job, business_key AS key, state, seq, job_digest AS digest, source, max_sessions, max_attempts, attempt_root,
       expected_rows, step_dispatch, step_token, coalesce(step_lease_until > clock_timestamp(), false) AS step_live,
       publish_attempt, publish_token, target_damaged, sealed_at IS NOT NULL AS sealed,
       cleaned_at IS NOT NULL AS cleaned
  FROM loadctl.load_run WHERE id = @run
   FOR NO KEY UPDATE
