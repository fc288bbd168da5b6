-- close_incidents: these are over; the next of the same cause opens a new one.
UPDATE punctual_alarm_incident
SET closed_at = clock_timestamp(), outcome = %(outcome)s, tell_at = NULL
WHERE id = ANY (%(ids)s::bigint[]) AND closed_at IS NULL
RETURNING id
