UPDATE loadctl.load_slot SET token = NULL, run_id = NULL, holder = NULL, lease_until = NULL
 WHERE lease_until + @stale::interval < clock_timestamp()
