UPDATE loadctl.load_publish
   SET fence = CASE WHEN @done OR fenced_at IS NULL THEN @fence::json ELSE fence END,
       fenced_at = CASE WHEN @done THEN coalesce(fenced_at, clock_timestamp()) ELSE fenced_at END
 WHERE token = @token
