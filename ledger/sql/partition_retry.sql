UPDATE loadctl.load_partition
   SET state = 'RETRY', attempts = attempts - @uncounted::bool::int, not_before = clock_timestamp() + @after::interval,
       token = NULL, worker = NULL, claimed_at = NULL, heartbeat_at = NULL, lease_until = NULL, rows_so_far = NULL,
       class = @class, message = @message
 WHERE run_id = @run AND idx = @idx AND token = @token AND state = 'RUNNING'
