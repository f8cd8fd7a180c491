SELECT from_state, event, at, by, detail FROM loadctl.load_history WHERE run_id = @run ORDER BY seq
