SELECT idx FROM loadctl.load_partition
 WHERE run_id = @run AND state IN ('PENDING', 'RETRY') AND attempts < @max_attempts
   AND coalesce(not_before <= clock_timestamp(), true)
 ORDER BY idx LIMIT 1
   FOR NO KEY UPDATE SKIP LOCKED
