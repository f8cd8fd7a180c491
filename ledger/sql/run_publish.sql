UPDATE loadctl.load_run SET publish_attempt = @attempt, publish_token = @token WHERE id = @run AND state = 'STAGING_VALIDATED'
