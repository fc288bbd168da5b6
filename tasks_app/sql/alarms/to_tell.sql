-- to_tell: open incidents of which somebody is to be told now, locked until that is written down.
-- What is found by looking has to have been found just now: what has passed by the time it is to be told is told to nobody.
SELECT id, rule, tenant, condition, cause, task_type, job, count, told_count, seconds, sample, opened_at, seen_at, told_at
FROM punctual_alarm_incident
WHERE tell_at <= (SELECT clock_timestamp()) AND closed_at IS NULL
  AND (condition <> ALL (%(levels)s::text[]) OR seen_at > (SELECT clock_timestamp()) - make_interval(secs => %(fresh)s))
ORDER BY tell_at
LIMIT %(most)s
FOR UPDATE SKIP LOCKED
