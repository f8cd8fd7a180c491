WITH mine AS (
  SELECT id, publish_token FROM loadctl.load_run
   WHERE id = @run AND state = 'PUBLISHING' AND publish_token = @token AND step_token = @token
     FOR NO KEY UPDATE
)
UPDATE loadctl.load_publish p
   SET armed_at = clock_timestamp(), evidence = @evidence::json, session = @session::json, instance = @instance, tag = @tag
  FROM mine
 WHERE p.run_id = mine.id AND p.token = mine.publish_token AND p.armed_at IS NULL AND p.ended_at IS NULL
   AND p.timeline = loadctl.timeline() AND p.timeline = (SELECT compared_timeline FROM loadctl.load_ledger)
