UPDATE loadctl.load_partition SET state = 'FAILED', ended_at = clock_timestamp(), class = @class, message = @message
 WHERE run_id = @run AND idx = @idx AND token = @token AND state = 'RUNNING'
