UPDATE loadctl.load_dispatch
   SET state = 'DONE', ended_at = clock_timestamp(),
       outcome = CASE WHEN token = @token::uuid THEN 'done' ELSE 'superseded' END
 WHERE run_id = @run AND state IN ('PENDING', 'ACKED') AND id <> @keep
   AND kind IN ('PLAN', 'VALIDATE_STAGE', 'PUBLISH', 'VALIDATE_TARGET')
