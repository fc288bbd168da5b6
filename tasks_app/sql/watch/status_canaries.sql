-- status_canaries: since when the canary of each lane has not come back, and how often it should. A lane that was paused
-- starts counting afresh only when its canary has come back, so whoever asks leaves paused lanes out.
-- By start_time, which only a settle writes: one that was reaped has a finish_time, and has not come back.
SELECT biz_key, extract(epoch FROM clock_timestamp() - coalesce(start_time, created_at))::float8,
       extract(epoch FROM repeat_after)::float8
FROM punctual_task
WHERE task_type = %(type)s AND current AND status <> 'CANCELLED'
  AND biz_key = ANY (%(lanes)s::text[]) AND tenant = %(tenant)s
