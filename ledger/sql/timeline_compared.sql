UPDATE loadctl.load_ledger SET compared_timeline = @timeline, compared_at = clock_timestamp() WHERE loadctl.timeline() = @timeline
