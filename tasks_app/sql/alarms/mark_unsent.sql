-- mark_unsent: the channel could not be reached, and waits before the next try; an alert that is too old is given up.
WITH tried AS (
    UPDATE punctual_alarm_alert
    SET attempts = attempts + 1, error = %(error)s,
        done_at = CASE WHEN %(give_up)s THEN clock_timestamp() END, outcome = CASE WHEN %(give_up)s THEN 'GIVEN_UP' ELSE '' END
    WHERE id = %(id)s AND done_at IS NULL
)
UPDATE punctual_alarm_channel
SET attempts = attempts + 1, failing_since = coalesce(failing_since, clock_timestamp()), error = %(error)s,
    next_try_at = clock_timestamp() + make_interval(secs => %(pause)s)
WHERE id = %(channel)s
