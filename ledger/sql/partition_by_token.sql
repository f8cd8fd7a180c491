SELECT p.run_id, p.idx, r.job, r.source, p.spec, p.display, coalesce(p.expected_rows, 0) AS expected, p.attempts,
       r.attempt_root AS root, p.lease_until
  FROM loadctl.load_partition p JOIN loadctl.load_run r ON r.id = p.run_id
 WHERE p.token = @token AND p.state = 'RUNNING'
