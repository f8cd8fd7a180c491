UPDATE loadctl.load_partition SET not_before = NULL WHERE run_id = @run AND idx = @idx AND state = 'RETRY'
