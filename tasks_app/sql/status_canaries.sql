-- status_canaries: since when the canary of each lane has not come back, and how often it should. A lane that was paused starts counting anew only
-- when its canary has come back, so whoever asks leaves paused lanes out.
SELECT biz_key, extract(epoch FROM clock_timestamp() - coalesce(finish_time, created_at))::float8,
       extract(epoch FROM repeat_after)::float8
FROM schedule_task
WHERE task_type = %(type)s AND current AND status <> 'CANCELLED'
  AND biz_key = ANY (%(lanes)s::text[]) AND tenant = %(tenant)s
