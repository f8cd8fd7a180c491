UPDATE loadctl.load_run
   SET publish_attempt = @attempt, publish_token = @token, target_damaged = target_damaged OR @damaged
 WHERE id = @run AND state IN ('STAGING_VALIDATED', 'PUBLISHING', 'PUBLISH_UNKNOWN')
