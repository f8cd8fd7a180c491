SELECT id FROM loadctl.load_run
 WHERE job = @job AND business_key = @key AND (@number = 0 OR number = @number)
 ORDER BY number DESC LIMIT 1
