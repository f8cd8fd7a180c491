SELECT count(*) AS partitions, count(*) FILTER (WHERE state = 'SUCCESS') AS succeeded,
       coalesce(sum(rows_read) FILTER (WHERE state = 'SUCCESS'), 0)::bigint AS rows,
       coalesce(sum(chunks) FILTER (WHERE state = 'SUCCESS'), 0)::bigint AS chunks
  FROM loadctl.load_partition WHERE run_id = @run
