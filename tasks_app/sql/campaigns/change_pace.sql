-- change_pace: a campaign that is not over gets another rate, or another number of tasks that may be under way. It waits for
-- the step that is running, if one is. A faster one does not first wait as long as the old rate had it wait.
UPDATE punctual_campaign
SET rate = %(rate)s::float8, most_running = %(most_running)s::int,
    next_at = least(next_at, clock_timestamp() + make_interval(secs => coalesce(1 / %(rate)s::float8, 0)))
WHERE id = %(campaign)s AND state IN ('RUNNING', 'PAUSED')
  AND (rate IS DISTINCT FROM %(rate)s::float8 OR most_running IS DISTINCT FROM %(most_running)s::int)
RETURNING id
