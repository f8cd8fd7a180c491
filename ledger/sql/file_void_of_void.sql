UPDATE loadctl.load_file f SET voided_at = clock_timestamp()
  FROM loadctl.load_partition p
 WHERE p.run_id = @run AND p.state = 'VOID' AND f.run_id = p.run_id AND f.partition = p.idx AND f.voided_at IS NULL
