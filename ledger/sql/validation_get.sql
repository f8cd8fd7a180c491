SELECT column_name AS column, metric AS name, value
  FROM loadctl.load_validation
 WHERE run_id = @run AND stage = @stage AND token = @token AND partition = @partition
