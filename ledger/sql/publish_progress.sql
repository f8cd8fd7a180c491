UPDATE loadctl.load_publish
   SET operation = coalesce(@operation::json, operation), query_id = coalesce(@query_id, query_id),
       progress = coalesce(@progress::json, progress), progress_at = clock_timestamp()
 WHERE token = @token AND armed_at IS NOT NULL AND ended_at IS NULL
