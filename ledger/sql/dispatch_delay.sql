UPDATE loadctl.load_dispatch SET due_at = clock_timestamp() + @after::interval WHERE run_id = @run AND run_seq = @seq AND state = 'PENDING'
