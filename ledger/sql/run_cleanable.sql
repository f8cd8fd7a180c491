SELECT id FROM loadctl.load_run
 WHERE NOT active AND cleaned_at IS NULL AND NOT target_damaged
   AND state_since + CASE WHEN state IN ('SUCCESS', 'SKIPPED') THEN @success::interval ELSE @failed::interval END < clock_timestamp()
   AND loadctl.timeline() = (SELECT compared_timeline FROM loadctl.load_ledger)
 ORDER BY state_since LIMIT @limit
