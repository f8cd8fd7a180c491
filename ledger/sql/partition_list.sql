SELECT p.idx AS index, p.spec, p.display, p.null_slice AS null, p.expected_rows AS expected, p.state, p.attempts,
       coalesce(p.token, '00000000-0000-0000-0000-000000000000') AS token, coalesce(p.worker, '') AS worker,
       coalesce(p.rows_so_far, 0) AS rows_so_far, coalesce(p.rows_read, 0) AS rows, f.chunks, f.bytes,
       p.not_before, p.claimed_at, p.heartbeat_at, p.lease_until, p.finished_at, p.ended_at,
       coalesce(p.class, '') AS class, coalesce(p.message, '') AS message
  FROM loadctl.load_partition p
 CROSS JOIN LATERAL (
       SELECT count(*) AS chunks, coalesce(sum(bytes), 0)::bigint AS bytes
         FROM loadctl.load_file f WHERE f.run_id = p.run_id AND f.partition = p.idx AND f.voided_at IS NULL) f
 WHERE p.run_id = @run
 ORDER BY p.idx
