SELECT armed_at IS NOT NULL AS armed FROM loadctl.load_publish WHERE run_id = @run AND token = @token
