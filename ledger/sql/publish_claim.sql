INSERT INTO loadctl.load_publish (run_id, attempt, token, timeline, claimed_by)
VALUES (@run, @attempt, @token, loadctl.timeline(), @owner)
