UPDATE loadctl.load_run SET cleaned_at = clock_timestamp()
 WHERE id = @run AND NOT active AND cleaned_at IS NULL AND NOT target_damaged
   AND loadctl.timeline() = (SELECT compared_timeline FROM loadctl.load_ledger)
