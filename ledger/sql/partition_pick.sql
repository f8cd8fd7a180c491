SELECT idx FROM loadctl.load_partition
 WHERE run_id = @run AND state IN ('PENDING', 'RETRY') AND attempts < @max_attempts
   AND coalesce(not_before <= clock_timestamp(), true)
   AND (SELECT count(*) FROM loadctl.load_partition p WHERE p.run_id = @run AND p.state = 'RUNNING' AND p.finished_at IS NULL)
       < (SELECT coalesce(max_workers, 2147483647) FROM loadctl.load_run WHERE id = @run)
 ORDER BY idx LIMIT 1
   FOR NO KEY UPDATE SKIP LOCKED
