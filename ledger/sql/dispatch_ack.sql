UPDATE loadctl.load_dispatch SET state = 'ACKED', token = @token, attempts = attempts + 1, acked_at = clock_timestamp()
 WHERE id = @id AND state IN ('PENDING', 'ACKED')
