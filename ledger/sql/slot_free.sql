UPDATE loadctl.load_slot SET token = NULL, run_id = NULL, holder = NULL, lease_until = NULL WHERE token = @token
