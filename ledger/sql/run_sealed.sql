UPDATE loadctl.load_run SET sealed_dir = @dir, sealed_at = clock_timestamp()
 WHERE id = @run AND state = 'STAGE_VALIDATING' AND step_token = @token
