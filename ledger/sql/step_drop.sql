UPDATE loadctl.load_run
   SET step = NULL, step_dispatch = NULL, step_token = NULL, step_owner = NULL, step_lease_until = NULL
 WHERE id = @run AND step_dispatch = @dispatch
