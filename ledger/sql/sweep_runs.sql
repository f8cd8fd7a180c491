SELECT * FROM (
  SELECT r.id, r.job, r.business_key AS key, r.number, r.state,
         r.created_at + r.run_timeout < clock_timestamp()
           AND (EXISTS (SELECT FROM loadctl.transition t WHERE t.from_state = r.state AND t.event = 'timeout')
                OR NOT EXISTS (SELECT FROM loadctl.load_event e
                                WHERE e.run_id = r.id AND e.code = @overdue AND e.detail ->> 'state' = r.state)) AS overdue,
         r.state <> 'PUBLISHING' AND coalesce(r.step_lease_until < clock_timestamp(), false) AS step_expired,
         r.state = 'PUBLISHING'
           AND coalesce(r.step_lease_until, r.state_since) + @publish_stale::interval < clock_timestamp() AS publish_gone,
         r.state = 'EXTRACTING'
           AND NOT EXISTS (SELECT FROM loadctl.load_partition p WHERE p.run_id = r.id AND p.state <> 'SUCCESS') AS complete
    FROM loadctl.load_run r
   WHERE r.active AND (@run::uuid IS NULL OR r.id = @run)) c
 WHERE overdue OR step_expired OR publish_gone OR complete
 ORDER BY id LIMIT @limit
