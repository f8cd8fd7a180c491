INSERT INTO loadctl.load_dispatch (run_id, run_seq, kind, state) VALUES (@run, @seq, @kind, 'PENDING')
