INSERT INTO loadctl.state AS s (name, active, gated, doc) VALUES (@name, @active, @gated, @doc)
ON CONFLICT (name) DO UPDATE SET doc = excluded.doc WHERE s.active = excluded.active AND s.gated = excluded.gated
