-- declare_limits: what the handlers of this beat say; the beat that was started last is right. A type that has lost its
-- limit keeps its row, since there may be tasks that are claimed by type.
INSERT INTO punctual_type_limit (task_type, rate, burst, max_running, permits)
SELECT task_type, rate, burst, max_running, coalesce(burst, 0)
FROM unnest(%(types)s::text[], %(rates)s::float8[], %(bursts)s::float8[], %(running)s::int[])
     AS given(task_type, rate, burst, max_running)
WHERE rate IS NOT NULL OR max_running IS NOT NULL
   OR EXISTS (SELECT FROM punctual_type_limit l WHERE l.task_type = given.task_type)
ORDER BY task_type
ON CONFLICT (task_type) DO UPDATE
SET rate = excluded.rate, burst = excluded.burst, max_running = excluded.max_running,
    permits = least(punctual_type_limit.permits, excluded.burst)
