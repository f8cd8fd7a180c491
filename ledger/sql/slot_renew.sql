UPDATE loadctl.load_slot SET lease_until = clock_timestamp() + @lease::interval WHERE token = @token
