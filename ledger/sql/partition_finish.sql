UPDATE loadctl.load_partition
   SET state = @state, finished_at = clock_timestamp(), chunks = @chunks, rows_read = @rows, rows_so_far = @rows,
       ended_at = CASE WHEN @state = 'SUCCESS' THEN clock_timestamp() END
 WHERE run_id = @run AND idx = @idx AND token = @token AND state = 'RUNNING' AND finished_at IS NULL
