-- ask_later: not well yet.
UPDATE punctual_alarm_incident
SET calm_at = clock_timestamp() + make_interval(secs => %(seconds)s)
WHERE id = ANY (%(ids)s::bigint[]) AND closed_at IS NULL
