-- limit_usage: by type, how many tasks are RUNNING or AWAY, how many of them have not been passed to a handler, and how
-- many are AWAY.
-- AWAY tasks use no place of a safeguard: otherwise a trial that went away would block all others until its report. This is
-- a separate statement after lock_limits, so its snapshot includes the claims of the previous lock holder. It counts by
-- batch, so the result may be too high until a batch ends. A batch that has just started may not have called its handler;
-- later, it has for `at_once` tasks.
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
