-- last_results: of some jobs, what became of the latest instance whose time has come, and how late it began in seconds.
SELECT j.id, t.status, extract(epoch FROM t.start_time - greatest(t.claimed_due, t.allowed_at))::float8
FROM unnest(%(jobs)s::bigint[]) AS j(id)
CROSS JOIN LATERAL (
    SELECT t.status, t.start_time, t.claimed_due, t.allowed_at FROM punctual_any_task t
    WHERE t.job = j.id AND t.fire_time <= (SELECT clock_timestamp())
    ORDER BY t.fire_time DESC
    LIMIT 1
) AS t
