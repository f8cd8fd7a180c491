INSERT INTO loadctl.load_validation (run_id, stage, token, partition, column_name, metric, value)
SELECT @run, @stage, @token, @partition, m.column_name, m.metric, m.value
  FROM unnest(@columns::text[], @metrics::text[], @values::text[]) AS m (column_name, metric, value)
ON CONFLICT DO NOTHING
