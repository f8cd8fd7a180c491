SELECT r.id
  FROM loadctl.load_run r
 WHERE r.active AND r.state = 'EXTRACTING' AND (@run::uuid IS NULL OR r.id = @run)
   AND (coalesce(cardinality(@sources::text[]), 0) = 0 OR r.source = ANY (@sources))
   AND EXISTS (SELECT FROM loadctl.load_partition p
                WHERE p.run_id = r.id AND p.state IN ('PENDING', 'RETRY') AND coalesce(p.not_before <= clock_timestamp(), true))
   AND EXISTS (SELECT FROM loadctl.load_slot s
                WHERE s.source = r.source AND s.n <= r.max_sessions AND (s.token IS NULL OR s.lease_until < clock_timestamp()))
   AND (r.max_workers IS NULL OR r.max_workers > (SELECT count(*) FROM loadctl.load_partition p
                                                   WHERE p.run_id = r.id AND p.state = 'RUNNING' AND p.finished_at IS NULL))
   AND (SELECT min_binary FROM loadctl.schema_version) <= @binary
 ORDER BY r.created_at, r.id
 LIMIT @limit
