UPDATE loadctl.load_slot
   SET token = @token, run_id = @run::uuid, holder = @holder, lease_until = clock_timestamp() + @lease::interval
 WHERE (source, n) = (
       SELECT source, n FROM loadctl.load_slot
        WHERE source = @source AND n <= @limit AND (token IS NULL OR lease_until < clock_timestamp())
        ORDER BY n LIMIT 1
          FOR NO KEY UPDATE SKIP LOCKED)
