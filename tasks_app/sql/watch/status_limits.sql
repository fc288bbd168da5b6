-- status_limits: the limits in force, what is left in their buckets, how many tasks are claimed and running, and how many
-- are due and for how long: those of each lane are counted up to a bound. And the types of which limited tasks are
-- scheduled, but whose limit no beat has declared.
SELECT one.task_type, one.declared, one.rate, one.burst, one.max_running,
       least(one.burst, one.permits + one.rate * greatest(0, extract(epoch FROM clock_timestamp() - one.filled_at)::float8)),
       held.claimed, held.running, extract(epoch FROM clock_timestamp() - waits.since)::float8, waits.due
FROM (
    SELECT task_type, l.task_type IS NOT NULL AS declared, l.rate, l.burst, l.max_running, l.permits, l.filled_at
    FROM unnest(%(types)s::text[]) AS scheduled(task_type)
    FULL JOIN punctual_type_limit l USING (task_type)
) AS one
CROSS JOIN LATERAL (
    SELECT coalesce(sum(cardinality(b.ids)) FILTER (WHERE b.started_at IS NULL), 0)::bigint AS claimed,
           coalesce(sum(cardinality(b.ids) - b.ok - b.failed) FILTER (WHERE b.started_at IS NOT NULL), 0)::bigint AS running
    FROM punctual_batch b
    WHERE b.finished_at IS NULL AND b.task_type = one.task_type
) AS held
CROSS JOIN LATERAL (
    SELECT sum(few.due)::bigint AS due, min(few.since) AS since
    FROM unnest(%(lanes)s::text[]) AS lane(name)
    CROSS JOIN LATERAL (
        SELECT count(*) AS due, min(counted.since) AS since FROM (
            SELECT greatest(t.wait_at, t.allowed_at) AS since FROM punctual_task t
            WHERE t.limited AND t.task_type = one.task_type AND t.lane = lane.name
              AND t.wait_at <= (SELECT clock_timestamp())
            ORDER BY t.wait_at
            LIMIT %(bound)s + 1
        ) AS counted
    ) AS few
) AS waits
WHERE one.rate IS NOT NULL OR one.max_running IS NOT NULL OR NOT one.declared
ORDER BY one.task_type
