SELECT id FROM loadctl.load_run
 WHERE reverse(id::text) LIKE reverse(@suffix::text) || '%'
 ORDER BY created_at DESC LIMIT @limit
