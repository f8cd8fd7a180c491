UPDATE loadctl.load_partition SET state = 'VOID', ended_at = clock_timestamp()
 WHERE run_id = @run AND state IN ('PENDING', 'RUNNING', 'RETRY')
