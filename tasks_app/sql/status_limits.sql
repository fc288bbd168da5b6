-- status_limits: the limits in force, what is left in their buckets, and how many tasks are claimed, running and due: those
-- that are due in each lane are counted up to a bound. And the types of which limited tasks are planned, but whose limit no beat has declared.
SELECT one.task_type, one.declared, one.rate, one.burst, one.max_running,
       least(one.burst, one.tokens + one.rate * greatest(0, extract(epoch FROM clock_timestamp() - one.filled_at)::float8)),
       held.claimed, held.running,
       (SELECT sum(few.due)::bigint
        FROM unnest(%(lanes)s::text[]) AS lane(name)
        CROSS JOIN LATERAL (
            SELECT count(*) AS due FROM (
                SELECT FROM schedule_task t
                WHERE t.limited AND t.task_type = one.task_type AND t.lane = lane.name
                  AND t.due_at <= (SELECT clock_timestamp())
                LIMIT %(bound)s + 1
            ) AS counted
        ) AS few)
FROM (
    SELECT task_type, l.task_type IS NOT NULL AS declared, l.rate, l.burst, l.max_running, l.tokens, l.filled_at
    FROM unnest(%(types)s::text[]) AS planned(task_type)
    FULL JOIN type_limit l USING (task_type)
) AS one
CROSS JOIN LATERAL (
    SELECT coalesce(sum(cardinality(b.ids)) FILTER (WHERE b.started_at IS NULL), 0)::bigint AS claimed,
           coalesce(sum(cardinality(b.ids) - b.ok - b.failed) FILTER (WHERE b.started_at IS NOT NULL), 0)::bigint AS running
    FROM task_batch b
    WHERE b.finished_at IS NULL AND b.task_type = one.task_type
) AS held
WHERE one.rate IS NOT NULL OR one.max_running IS NOT NULL OR NOT one.declared
ORDER BY one.task_type
