UPDATE loadctl.load_run
   SET scn = @scn::text::numeric, source_identity = @identity::json, strategy = @strategy, plan_detail = @detail::json,
       expected_rows = @total
 WHERE id = @run AND state = 'CREATED'
