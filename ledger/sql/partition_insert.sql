INSERT INTO loadctl.load_partition (run_id, idx, spec, display, null_slice, expected_rows, state,
                                    finished_at, ended_at, chunks, rows_read)
SELECT @run, @idx, @spec::json, @display, @null_slice, e.rows, CASE WHEN e.rows = 0 THEN 'SUCCESS' ELSE 'PENDING' END,
       CASE WHEN e.rows = 0 THEN clock_timestamp() END, CASE WHEN e.rows = 0 THEN clock_timestamp() END,
       CASE WHEN e.rows = 0 THEN 0 END, CASE WHEN e.rows = 0 THEN 0 END
  FROM (SELECT @expected::bigint AS rows) e
