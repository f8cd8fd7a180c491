INSERT INTO loadctl.load_event (run_id, partition, kind, code, message, detail, by)
VALUES (@run::uuid, @partition::int, @kind, @code, @message, @detail::json, @by)
