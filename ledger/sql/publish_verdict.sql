UPDATE loadctl.load_publish
   SET verdict = @verdict, verdict_at = clock_timestamp(), judged_by = @detail::json
 WHERE token = @token AND resolved_as IS NULL
   AND loadctl.timeline() = (SELECT compared_timeline FROM loadctl.load_ledger)
