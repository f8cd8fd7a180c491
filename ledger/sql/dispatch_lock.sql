SELECT id, run_id, kind, state, due_at <= clock_timestamp() AS is_due, attempts, token
  FROM loadctl.load_dispatch WHERE id = @id
   FOR NO KEY UPDATE
