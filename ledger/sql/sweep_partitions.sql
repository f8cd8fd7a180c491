SELECT r.id, r.job, r.business_key AS key, r.number, p.idx
  FROM loadctl.load_partition p JOIN loadctl.load_run r ON r.id = p.run_id
 WHERE p.state = 'RUNNING' AND p.finished_at IS NULL AND r.state = 'EXTRACTING'
   AND greatest(p.lease_until, p.heartbeat_at + @stale::interval) < clock_timestamp()
 ORDER BY p.lease_until LIMIT @limit
