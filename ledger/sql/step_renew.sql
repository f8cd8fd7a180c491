UPDATE loadctl.load_run SET step_lease_until = clock_timestamp() + @lease::interval
 WHERE id = @run AND step_token = @token
