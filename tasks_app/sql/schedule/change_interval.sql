-- change_interval: live rolling rows of these units roll by another interval from now on.
-- What waits for its next roll waits in proportion: what would have waited for half of the old interval waits for half of
-- the new one. So what was spread evenly over the old one is spread evenly over the new one, and nothing waits longer
-- than it. What is due, or is to be tried again after a failure, keeps its moment; a RUNNING one rolls by the new one.
-- What was put aside is due in a time that never comes, and stays so: it has its own moment when it is put back.
-- What has moved comes back with both moments: its type may have a timer to wait for from the new one on, and only then is
-- it told (tell_moved).
WITH mine AS MATERIALIZED (
    SELECT t.id, t.due_at AS was
    FROM punctual_task t JOIN unnest(%(keys)s::text[]) AS u(key) ON t.biz_key = u.key
    WHERE t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
      AND t.repeat_after <> make_interval(secs => %(repeat_after)s::float8) AND
--include live
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
)
UPDATE punctual_task t
SET repeat_after = make_interval(secs => %(repeat_after)s::float8),
    due_at = CASE WHEN t.due_at > clock.now AND t.due_at < %(never)s::timestamptz AND t.attempt = 0
                  THEN clock.now + (t.due_at - clock.now) * (%(repeat_after)s::float8 / extract(epoch FROM t.repeat_after)::float8)
                  ELSE t.due_at END,
    updated_at = clock_timestamp()
FROM mine, clock
WHERE t.id = mine.id AND t.current AND t.repeat_after <> make_interval(secs => %(repeat_after)s::float8) AND
--include live
RETURNING t.id, mine.was, CASE WHEN t.due_at <> mine.was THEN t.due_at END AS moved
