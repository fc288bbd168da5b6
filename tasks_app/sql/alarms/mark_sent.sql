-- mark_sent: the channel has taken the alert.
WITH sent AS (
    UPDATE punctual_alarm_alert
    SET done_at = clock_timestamp(), outcome = 'SENT', attempts = attempts + 1, error = ''
    WHERE id = %(id)s AND done_at IS NULL
)
UPDATE punctual_alarm_channel
SET permits = greatest(0, permits - 1), attempts = 0, failing_since = NULL, next_try_at = NULL, error = '',
    sent_at = clock_timestamp()
WHERE id = %(channel)s
