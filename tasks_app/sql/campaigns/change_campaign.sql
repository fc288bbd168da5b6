-- change_campaign: somebody pauses, resumes or cancels it. It waits for the step that is running, if one is.
-- Time that it was paused for is not made up for.
UPDATE punctual_campaign
SET state = %(state)s::text, failures = 0, error = '',
    next_at = CASE WHEN %(state)s::text = 'RUNNING' THEN greatest(next_at, clock_timestamp()) ELSE next_at END,
    finished_at = CASE WHEN %(state)s::text = 'CANCELLED' THEN clock_timestamp() END
WHERE id = %(campaign)s AND state = ANY (%(expected)s::text[])
RETURNING id
