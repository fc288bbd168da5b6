-- known_firings: of a job, the firings within a stretch of time that have their scheduled instance, live or over.
-- One look into an index for the live ones, and one for each partition of the past, however many firings there are.
SELECT t.fire_time FROM punctual_task t
WHERE t.job = %(job)s AND t.fire_time >= %(since)s AND t.fire_time <= %(until)s
  AND NOT starts_with(t.biz_key, %(manual)s::text) AND NOT starts_with(t.biz_key, %(again)s::text)
UNION ALL
SELECT p.fire_time FROM punctual_past p
WHERE p.job = %(job)s AND p.fire_time >= %(since)s AND p.fire_time <= %(until)s
  AND NOT starts_with(p.biz_key, %(manual)s::text) AND NOT starts_with(p.biz_key, %(again)s::text)
