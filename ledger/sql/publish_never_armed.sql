UPDATE loadctl.load_publish
   SET fenced_at = clock_timestamp(), fence = '{"never_armed": true}', verdict = 'NOT_APPLIED', verdict_at = clock_timestamp()
 WHERE token = @token AND armed_at IS NULL
