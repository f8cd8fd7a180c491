SELECT id, job, business_key AS key, number, state, state_since AS since, created_by AS by, job_digest AS digest
  FROM loadctl.load_run
 WHERE id = @id OR active AND (job = @job AND business_key = @key OR target_id = @target)
 ORDER BY id = @id DESC, job = @job AND business_key = @key DESC
 LIMIT 1
