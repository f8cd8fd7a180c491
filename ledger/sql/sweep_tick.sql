WITH old AS (
  SELECT CASE WHEN swept_at IS NULL THEN 'nobody has swept this ledger before'
              WHEN swept_timeline IS DISTINCT FROM loadctl.timeline() THEN 'the ledger is on a new timeline'
              WHEN swept_postmaster IS DISTINCT FROM pg_postmaster_start_time() THEN 'PostgreSQL was restarted'
              WHEN swept_at + 2 * @interval::interval < clock_timestamp() THEN 'nobody has swept since ' || swept_at
         END AS why
    FROM loadctl.load_ledger
)
UPDATE loadctl.load_ledger l
   SET swept_at = clock_timestamp(), swept_by = @by, swept_postmaster = pg_postmaster_start_time(), swept_timeline = loadctl.timeline(),
       watch_until = CASE WHEN old.why IS NULL THEN l.watch_until ELSE clock_timestamp() + @stale::interval END
  FROM old
 WHERE (SELECT min_binary FROM loadctl.schema_version) <= @binary
RETURNING coalesce(old.why, '') AS why, l.watch_until, coalesce(l.watch_until > clock_timestamp(), false) AS watching
