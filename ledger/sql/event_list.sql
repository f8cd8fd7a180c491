SELECT 0::bigint AS id, run_id AS run, NULL::int AS partition, at, 'state' AS kind, event AS code, from_state AS "from",
       to_state AS "to", coalesce(class, '') AS class, coalesce(message, '') AS message, detail, by
  FROM loadctl.load_history WHERE run_id = @run
UNION ALL
SELECT id, run_id, partition, at, kind, code, '', '', coalesce(detail ->> 'class', ''), message, detail, by
  FROM loadctl.load_event WHERE run_id = @run
 ORDER BY at, id
