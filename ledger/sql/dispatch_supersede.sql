UPDATE loadctl.load_dispatch SET state = 'DONE', ended_at = clock_timestamp(), outcome = 'superseded'
 WHERE id = @id AND state IN ('PENDING', 'ACKED')
