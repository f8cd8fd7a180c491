SELECT event, to_state, coalesce(class, '') AS class, coalesce(message, '') AS message, detail
  FROM loadctl.load_history
 WHERE run_id = @run AND token = @token AND event = ANY (@events::text[])
 ORDER BY seq DESC LIMIT 1
