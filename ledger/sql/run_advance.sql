WITH moved AS (
  UPDATE loadctl.load_run r
     SET seq = r.seq + 1, state = s.name, active = s.active, state_since = clock_timestamp(), target_outcome = @outcome,
         target_damaged = r.target_damaged OR coalesce(@outcome = 'damaged', false),
         step = NULL, step_dispatch = NULL, step_token = NULL, step_owner = NULL, step_lease_until = NULL
    FROM loadctl.state s, loadctl.state f
   WHERE r.id = @run AND r.state = @from AND r.seq = @seq AND s.name = @to AND f.name = @from
     AND (NOT f.gated OR @ungated OR (SELECT compared_timeline FROM loadctl.load_ledger) = loadctl.timeline())
  RETURNING r.id, r.seq
), closed AS (
  UPDATE loadctl.load_history h SET closed = true FROM moved m WHERE h.run_id = m.id AND h.seq = m.seq - 1
)
INSERT INTO loadctl.load_history (run_id, seq, from_state, event, to_state, by, token, class, message, detail)
SELECT id, seq, @from, @event, @to, @by, @token::uuid, @class, @message, @detail::json FROM moved
