SELECT p.idx, p.state, coalesce(p.worker, '') AS worker, p.finished_at IS NOT NULL AS finished
  FROM loadctl.load_partition p
 WHERE p.run_id = @run AND (coalesce(cardinality(@idx::int[]), 0) = 0 OR p.idx = ANY (@idx))
 ORDER BY p.idx
