WITH seen AS (
  SELECT (o.value ->> 'at')::timestamptz AS at, (o.value -> 'seen')::jsonb AS what, o.n, max(o.n) OVER () AS last
    FROM loadctl.load_publish p, json_array_elements(p.observations) WITH ORDINALITY AS o (value, n)
   WHERE p.token = @token AND (o.value ->> 'at')::timestamptz >= p.fenced_at
), same AS (
  SELECT s.at FROM seen s JOIN seen l ON l.n = l.last
   WHERE s.n > coalesce((SELECT max(x.n) FROM seen x WHERE x.what <> l.what), 0)
)
SELECT count(*) AS count, coalesce(max(at) - min(at) >= @settle::interval, false) AS settled FROM same
