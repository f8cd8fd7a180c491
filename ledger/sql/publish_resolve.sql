UPDATE loadctl.load_publish
   SET resolved_as = @as, resolved_at = clock_timestamp(), resolved_by = @by, reason = @reason
 WHERE token = @token AND resolved_as IS NULL AND fenced_at IS NOT NULL
