SELECT loadctl.timeline() AS current, compared_timeline AS compared, compared_at FROM loadctl.load_ledger
