SELECT id, run_id, kind, state, due_at <= clock_timestamp() AS is_due, attempts, token
  FROM loadctl.load_dispatch
 WHERE run_id = @run AND (@id = 0 OR id = @id) AND kind IN ('PLAN', 'VALIDATE_STAGE', 'PUBLISH', 'VALIDATE_TARGET')
 ORDER BY id DESC LIMIT 1
   FOR NO KEY UPDATE
