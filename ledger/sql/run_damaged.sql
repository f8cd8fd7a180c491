UPDATE loadctl.load_run SET target_damaged = true WHERE id = @run AND state = 'PUBLISH_UNKNOWN'
