UPDATE loadctl.load_run SET target_damaged = false WHERE job = @job AND business_key = @key AND target_damaged
