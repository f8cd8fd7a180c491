SELECT count(*) AS count, coalesce(max(idx), -1) AS last, coalesce(sum(rows), 0)::bigint AS rows
  FROM loadctl.load_file
 WHERE run_id = @run AND partition = @partition AND voided_at IS NULL
