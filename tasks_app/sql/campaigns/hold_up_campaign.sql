-- hold_up_campaign: its step failed and was rolled back; it is tried again later, and each time a little later still.
UPDATE punctual_campaign
SET failures = failures + 1, error = %(error)s,
    next_at = clock_timestamp() + make_interval(secs => least(60, power(2, least(failures, 6))))
WHERE id = %(campaign)s AND state = 'RUNNING'
RETURNING failures
