-- to_tell: open incidents of which somebody is to be told now, locked until that is written down.
SELECT id, rule, tenant, condition, cause, task_type, job, count, told_count, seconds, sample, opened_at, seen_at, told_at
FROM punctual_alarm_incident
WHERE tell_at <= (SELECT clock_timestamp()) AND closed_at IS NULL
ORDER BY tell_at
LIMIT %(most)s
FOR UPDATE SKIP LOCKED
