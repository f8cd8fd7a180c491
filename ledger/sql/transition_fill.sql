INSERT INTO loadctl.transition AS t (from_state, event, to_state, doc) VALUES (@from, @event, @to, @doc)
ON CONFLICT (from_state, event) DO UPDATE SET doc = excluded.doc WHERE t.to_state = excluded.to_state
