-- status_limits: the limits in force, what is left in their buckets, and how many tasks are running and due: those
-- of each lane are counted up to a bound.
SELECT l.task_type, l.rate, l.burst, l.max_running,
       least(l.burst, l.tokens + l.rate * extract(epoch FROM clock_timestamp() - l.filled_at)::float8),
       (SELECT coalesce(sum(cardinality(b.ids) - b.ok - b.failed), 0)::bigint FROM task_batch b
        WHERE b.finished_at IS NULL AND b.task_type = l.task_type),
       (SELECT sum(few.due)::bigint
        FROM unnest(%(lanes)s::text[]) AS lane(name)
        CROSS JOIN LATERAL (
            SELECT count(*) AS due FROM (
                SELECT FROM schedule_task t
                WHERE t.limited AND t.task_type = l.task_type AND t.lane = lane.name
                  AND t.due_at <= (SELECT clock_timestamp())
                LIMIT %(bound)s + 1
            ) AS counted
        ) AS few)
FROM type_limit l
WHERE l.rate IS NOT NULL OR l.max_running IS NOT NULL
ORDER BY l.task_type
