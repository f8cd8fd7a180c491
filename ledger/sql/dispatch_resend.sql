UPDATE loadctl.load_dispatch
   SET state = 'PENDING', attempts = 0, due_at = clock_timestamp(), token = NULL, acked_at = NULL, ended_at = NULL, outcome = NULL
 WHERE id = @id AND state IN ('PENDING', 'ACKED', 'DEAD')
