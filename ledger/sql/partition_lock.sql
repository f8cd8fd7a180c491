SELECT p.state, p.token, p.attempts, p.expected_rows AS expected, p.finished_at IS NOT NULL AS finished, p.chunks, p.rows_read,
       r.attempt_root AS root
  FROM loadctl.load_partition p JOIN loadctl.load_run r ON r.id = p.run_id
 WHERE p.run_id = @run AND p.idx = @idx
   FOR NO KEY UPDATE OF p
