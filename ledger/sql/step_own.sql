UPDATE loadctl.load_run
   SET step = @step, step_dispatch = @dispatch, step_token = @token, step_owner = @owner,
       step_lease_until = clock_timestamp() + @lease::interval
 WHERE id = @run AND active
