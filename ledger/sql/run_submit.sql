WITH made AS (
  INSERT INTO loadctl.load_run (id, job, business_key, number, target_id, source, max_sessions, max_attempts, max_workers, attempt_root,
                                job_spec, job_digest, options, created_by, run_timeout, seq, state, active)
  SELECT @id, @job, @key, 1 + coalesce(max(number), 0), @target, @source, @max_sessions, @max_attempts, nullif(@max_workers::int, 0), @attempt_root,
         @spec::json, @digest, @options::json, @by, @timeout, 0, @state, true
    FROM loadctl.load_run WHERE job = @job AND business_key = @key
  ON CONFLICT DO NOTHING
  RETURNING id
)
INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by, detail)
SELECT id, 0, '', @event, @state, @by, json_build_object('digest', @digest::text, 'target', @target::text) FROM made
