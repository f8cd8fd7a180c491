SELECT count(*) AS same
  FROM loadctl.load_validation v
  JOIN unnest(@columns::text[], @metrics::text[], @values::text[]) AS m (column_name, metric, value)
    ON v.column_name = m.column_name AND v.metric = m.metric AND v.value IS NOT DISTINCT FROM m.value
 WHERE v.run_id = @run AND v.stage = @stage AND v.token = @token AND v.partition = @partition
