-- status_moving: how many finished batches should have gone to the past, the tasks in them, and for how long the first has
-- been waiting. Counted up to a bound.
SELECT count(*), coalesce(sum(few.ok + few.failed), 0)::bigint,
       extract(epoch FROM clock_timestamp() - min(few.finished_at))::float8 - %(keep)s::float8
FROM (
    SELECT b.ok, b.failed, b.finished_at FROM punctual_batch b
    WHERE b.finished_at < (SELECT clock_timestamp() - make_interval(secs => %(keep)s::float8))
    ORDER BY b.finished_at
    LIMIT %(bound)s + 1
) AS few
