-- declare_limits: the limits of this beat's handlers. The beat that was started last decides. A type that has lost its
-- limit keeps its row, since there may be tasks that are claimed by type.
-- Returns the types whose limit was different or unknown before, with that limit.
WITH known AS MATERIALIZED (
    SELECT task_type, rate, burst, max_running FROM punctual_type_limit
    WHERE task_type = ANY (%(types)s::text[])
    ORDER BY task_type
    FOR NO KEY UPDATE
), declared AS (
    INSERT INTO punctual_type_limit (task_type, rate, burst, max_running, permits)
    SELECT given.task_type, given.rate, given.burst, given.max_running, coalesce(given.burst, 0)
    FROM unnest(%(types)s::text[], %(rates)s::float8[], %(bursts)s::float8[], %(running)s::int[])
         AS given(task_type, rate, burst, max_running)
    LEFT JOIN known k USING (task_type)
    WHERE (given.rate, given.burst, given.max_running) IS DISTINCT FROM (k.rate, k.burst, k.max_running)
    ORDER BY given.task_type
    ON CONFLICT (task_type) DO UPDATE
    SET rate = excluded.rate, burst = excluded.burst, max_running = excluded.max_running,
        permits = least(punctual_type_limit.permits, excluded.burst)
    RETURNING task_type, xmax = 0 AS new
)
SELECT d.task_type, k.rate, k.burst, k.max_running
FROM declared d LEFT JOIN known k USING (task_type)
WHERE d.new OR k.task_type IS NOT NULL -- else another beat has just declared it, and tells
