UPDATE loadctl.load_publish
   SET ended_at = clock_timestamp(), outcome = @outcome, rows_written = @rows, after = @after::json
 WHERE token = @token AND ended_at IS NULL
