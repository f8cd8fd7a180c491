UPDATE loadctl.load_file SET voided_at = clock_timestamp()
 WHERE run_id = @run AND partition = @partition AND voided_at IS NULL
