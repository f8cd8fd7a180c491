SELECT id FROM loadctl.load_run
 WHERE (@job = '' OR job = @job) AND (@key = '' OR business_key = @key)
   AND (coalesce(cardinality(@states::text[]), 0) = 0 OR state = ANY (@states))
   AND (NOT @active OR active) AND (NOT @damaged OR target_damaged) AND created_at >= @since
 ORDER BY created_at DESC, id DESC LIMIT @limit
