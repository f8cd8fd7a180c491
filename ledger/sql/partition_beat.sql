WITH beat AS (
  UPDATE loadctl.load_partition
     SET heartbeat_at = clock_timestamp(), lease_until = clock_timestamp() + @lease::interval,
         rows_so_far = greatest(rows_so_far, @rows)
   WHERE run_id = @run AND idx = @idx AND token = @token AND state = 'RUNNING'
     AND EXISTS (SELECT FROM loadctl.load_slot s WHERE s.token = @token)
  RETURNING lease_until
), slot AS (
  UPDATE loadctl.load_slot s SET lease_until = beat.lease_until FROM beat WHERE s.token = @token
)
SELECT r.state, (SELECT lease_until FROM beat) AS lease_until FROM loadctl.load_run r WHERE r.id = @run
