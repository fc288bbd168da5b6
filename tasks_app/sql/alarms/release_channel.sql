-- release_channel: whoever held it has nothing more to send, or waits for a permit.
UPDATE punctual_alarm_channel
SET held_until = NULL,
    next_try_at = CASE WHEN %(pause)s > 0 THEN clock_timestamp() + make_interval(secs => %(pause)s) ELSE next_try_at END
WHERE id = %(channel)s AND fence = %(fence)s
