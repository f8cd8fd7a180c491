UPDATE loadctl.load_publish
   SET observations = (coalesce(observations::jsonb, '[]')
                       || jsonb_build_array(jsonb_build_object('at', clock_timestamp(), 'seen', @seen::jsonb)))::json
 WHERE token = @token
RETURNING clock_timestamp() AS now
