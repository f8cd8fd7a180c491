SELECT run_id FROM loadctl.load_dispatch WHERE id = @id
