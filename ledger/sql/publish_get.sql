SELECT attempt, armed_at IS NOT NULL AS armed, ended_at IS NOT NULL AS ended, fenced_at IS NOT NULL AS fenced,
       coalesce(verdict, '') AS verdict
  FROM loadctl.load_publish WHERE run_id = @run AND token = @token
