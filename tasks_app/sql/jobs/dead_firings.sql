-- dead_firings: of a job, the next instances within a stretch of time that gave up; not those that somebody triggered.
-- What is dead is among what is live as long as it stands for its unit.
SELECT t.fire_time, t.id FROM punctual_task t
WHERE t.job = %(job)s AND t.fire_time >= %(since)s AND t.fire_time <= %(until)s
  AND (t.fire_time, t.id) > (%(after)s::timestamptz, %(after_id)s::bigint)
  AND t.status = 'DEAD' AND t.current AND NOT starts_with(t.biz_key, %(manual)s::text)
ORDER BY t.fire_time, t.id
LIMIT %(page)s
