-- last_runs: the latest instances of some jobs whose time has come, the oldest first; those of each job by its own index.
SELECT j.id, t.id, t.status, t.fire_time
FROM unnest(%(jobs)s::bigint[]) AS j(id)
CROSS JOIN LATERAL (
    SELECT t.id, t.status, t.fire_time FROM punctual_any_task t
    WHERE t.job = j.id AND t.fire_time <= (SELECT clock_timestamp())
    ORDER BY t.fire_time DESC
    LIMIT %(count)s
) AS t
ORDER BY j.id, t.fire_time, t.id
