SELECT token FROM loadctl.load_history WHERE run_id = @run AND event = 'staged' ORDER BY seq DESC LIMIT 1
