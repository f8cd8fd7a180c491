SELECT d.id, d.run_id AS run, r.job, r.source, d.kind, d.attempts, d.due_at
  FROM loadctl.load_dispatch d JOIN loadctl.load_run r ON r.id = d.run_id
 WHERE d.kind IN ('PLAN', 'VALIDATE_STAGE', 'PUBLISH', 'VALIDATE_TARGET')
   AND (d.state = 'PENDING' AND d.due_at <= clock_timestamp()
        OR d.state = 'ACKED' AND NOT coalesce(r.step_dispatch = d.id AND r.step_lease_until > clock_timestamp(), false))
   AND (@run::uuid IS NULL OR d.run_id = @run)
   AND (coalesce(cardinality(@sources::text[]), 0) = 0 OR r.source = ANY (@sources))
   AND (SELECT min_binary FROM loadctl.schema_version) <= @binary
 ORDER BY d.due_at, d.id
 LIMIT @limit
   FOR NO KEY UPDATE OF d SKIP LOCKED
