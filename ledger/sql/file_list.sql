SELECT partition, token, idx AS index, path, rows, bytes, digest, voided_at IS NOT NULL AS void
  FROM loadctl.load_file
 WHERE run_id = @run AND (@all OR voided_at IS NULL)
 ORDER BY partition, token, idx
