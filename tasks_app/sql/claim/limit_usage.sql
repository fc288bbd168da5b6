-- limit_usage: how many tasks of these types are RUNNING or AWAY, of how many of those the handler was not called yet, and how many are
-- AWAY: these hold no place of a safeguard, or a trial that went away would keep all others waiting until it is reported. A
-- statement of its own, after lock_limits: its snapshot then has the claims of whoever held the lock before.
-- Counted by batch, so what has left a batch early may be counted until the batch ends: too many, never too few. A batch
-- that started a moment ago may not have called its handler; later, it has for as many as it does `at_once`.
SELECT g.task_type, sum(open.tasks)::int,
       sum(CASE WHEN open.begun THEN greatest(open.tasks - g.at_once, 0) ELSE open.tasks END)::int,
       sum(open.away)::int
FROM unnest(%(types)s::text[], %(at_once)s::int[]) AS g(task_type, at_once)
CROSS JOIN LATERAL (
    SELECT cardinality(b.ids) - b.ok - b.failed AS tasks,
           coalesce(b.started_at < clock_timestamp() - interval '50 milliseconds', FALSE) AS begun, 0 AS away
    FROM punctual_batch b
    WHERE b.finished_at IS NULL AND b.task_type = g.task_type
    UNION ALL
    SELECT 1, TRUE, 1 FROM punctual_away a WHERE a.task_type = g.task_type
) AS open
GROUP BY g.task_type
