SELECT token, attempts, worker, heartbeat_at
  FROM loadctl.load_partition
 WHERE run_id = @run AND idx = @idx AND state = 'RUNNING' AND finished_at IS NULL
   AND greatest(lease_until, heartbeat_at + @stale::interval) < clock_timestamp()
   FOR NO KEY UPDATE
