INSERT INTO loadctl.load_publish (run_id, attempt, token, mark, timeline, claimed_by, armed_at, evidence, session, instance, tag,
                                  ended_at, outcome)
VALUES (@run, @attempt, @token, @mark, loadctl.timeline(), @by, clock_timestamp(), @evidence::json, @session::json, @instance, @tag,
        clock_timestamp(), 'unknown')
ON CONFLICT (token) DO UPDATE
   SET mark = excluded.mark, armed_at = excluded.armed_at, evidence = excluded.evidence, session = excluded.session, instance = excluded.instance,
       tag = excluded.tag, ended_at = excluded.ended_at, outcome = 'unknown', fenced_at = NULL, fence = NULL, observations = NULL,
       verdict = NULL, verdict_at = NULL, judged_by = NULL
