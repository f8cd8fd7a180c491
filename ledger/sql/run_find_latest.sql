SELECT id FROM loadctl.load_run ORDER BY created_at DESC, id DESC LIMIT 1
