SELECT EXISTS (SELECT FROM loadctl.load_event
                WHERE run_id = @run AND code = @code AND detail ->> 'token' = @token::text) AS told
