-- mark_told: the alerts about these are written; the next one waits until something more is seen.
UPDATE punctual_alarm_incident
SET told_at = clock_timestamp(), told_count = count, tell_at = NULL
WHERE id = ANY (%(ids)s::bigint[]) AND closed_at IS NULL
