INSERT INTO loadctl.load_file (run_id, partition, token, idx, path, rows, bytes, digest)
VALUES (@run, @partition, @token, @idx, @path, @rows, @bytes, @digest)
ON CONFLICT DO NOTHING
