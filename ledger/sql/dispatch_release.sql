UPDATE loadctl.load_dispatch
   SET state = 'PENDING', token = NULL, attempts = attempts - @uncounted::bool::int, due_at = clock_timestamp() + @after::interval
 WHERE id = @id AND state = 'ACKED'
