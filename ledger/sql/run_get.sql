SELECT r.id, r.job, r.business_key AS key, r.number, r.target_id, r.source, r.max_sessions, r.max_attempts,
       r.attempt_root, r.job_spec AS spec, r.job_digest AS digest, r.options, r.created_by, r.created_at,
       r.run_timeout AS timeout, r.seq, r.state, r.state_since AS since,
       coalesce(r.scn::text, '') AS scn, r.source_identity, coalesce(r.strategy, '') AS strategy, r.plan_detail,
       coalesce(r.expected_rows, 0) AS expected_rows,
       coalesce(r.step, '') AS step, coalesce(r.step_owner, '') AS step_owner,
       coalesce(r.step_token, '00000000-0000-0000-0000-000000000000') AS step_token,
       coalesce(r.step_lease_until, '0001-01-01 00:00:00+00') AS step_lease_until,
       coalesce(r.sealed_dir, '') AS sealed_dir, r.publish_attempt,
       coalesce(r.publish_token, '00000000-0000-0000-0000-000000000000') AS publish_token,
       r.cleaned_at, r.target_damaged, coalesce(r.target_outcome, '') AS target_outcome,
       coalesce(h.class, '') AS class, coalesce(h.message, '') AS message, h.detail,
       p.partitions, p.partitions_done, p.rows_done, p.retries, f.chunks, f.bytes
  FROM unnest(@ids::uuid[]) WITH ORDINALITY AS want (id, ord)
  JOIN loadctl.load_run r ON r.id = want.id
  JOIN loadctl.load_history h ON h.run_id = r.id AND h.seq = r.seq
 CROSS JOIN LATERAL (
       SELECT count(*) AS partitions,
              count(*) FILTER (WHERE state = 'SUCCESS') AS partitions_done,
              coalesce(sum(coalesce(rows_read, rows_so_far)) FILTER (WHERE state IN ('RUNNING', 'SUCCESS')), 0)::bigint AS rows_done,
              coalesce(sum(greatest(attempts - 1, 0)), 0)::bigint AS retries
         FROM loadctl.load_partition WHERE run_id = r.id) p
 CROSS JOIN LATERAL (
       SELECT count(*) AS chunks, coalesce(sum(bytes), 0)::bigint AS bytes
         FROM loadctl.load_file WHERE run_id = r.id AND voided_at IS NULL) f
 ORDER BY want.ord
