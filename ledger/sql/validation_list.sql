WITH last AS (
  SELECT DISTINCT ON (stage, partition) stage, partition, token
    FROM loadctl.load_validation WHERE run_id = @run
   ORDER BY stage, partition, recorded_at DESC
)
SELECT v.stage, v.partition, v.column_name AS column, v.metric AS name, v.value, v.recorded_at AS at
  FROM loadctl.load_validation v JOIN last USING (stage, partition, token)
 WHERE v.run_id = @run
 ORDER BY v.stage, v.partition, v.column_name, v.metric
