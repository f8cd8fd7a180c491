UPDATE loadctl.load_partition
   SET state = 'RUNNING', attempts = attempts + 1, token = @token, worker = @worker, claimed_at = clock_timestamp(),
       heartbeat_at = clock_timestamp(), lease_until = clock_timestamp() + @lease::interval, rows_so_far = 0,
       not_before = NULL, class = NULL, message = NULL
 WHERE run_id = @run AND idx = @idx AND state IN ('PENDING', 'RETRY')
