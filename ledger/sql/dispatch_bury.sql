UPDATE loadctl.load_dispatch SET state = 'DEAD', ended_at = clock_timestamp(), outcome = 'attempts used up'
 WHERE id = @id AND state IN ('PENDING', 'ACKED')
