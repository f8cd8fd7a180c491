INSERT INTO loadctl.load_slot (source, n)
SELECT @source, n FROM generate_series(1, @n::int) AS n
 WHERE NOT EXISTS (SELECT FROM loadctl.load_slot s WHERE s.source = @source AND s.n = n.n)
 ORDER BY n
ON CONFLICT DO NOTHING
