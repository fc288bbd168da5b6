-- recent_runs: the batches that ended in a time, by lane and type; the same by lane and size, and by lane and lateness. And what
-- was told in it of tasks that were away, which is no batch's. Canaries are nobody's tasks.
WITH recent AS MATERIALIZED (
    SELECT b.lane, b.task_type, cardinality(b.ids) AS tasks, b.ok, b.failed, b.run_us, b.lateness, b.reaped
    FROM punctual_any_batch b
    WHERE b.finished_at >= %(since)s AND b.finished_at < %(until)s AND b.task_type <> %(canary)s
)
SELECT 'run', lane, task_type, 0, count(*), sum(ok)::float8, sum(failed)::float8, sum(run_us)::float8 / 1e6,
       count(*) FILTER (WHERE reaped)
FROM recent
GROUP BY lane, task_type
UNION ALL
SELECT 'run', lane, task_type, 0, 0, sum(ok)::float8, sum(failed)::float8, 0, 0
FROM punctual_away_outcome
WHERE at >= %(since)s AND at < %(until)s
GROUP BY lane, task_type
UNION ALL
-- The bounds are whole, so that a size that is one of them is in its own bucket and not in the next.
SELECT 'size', lane, '', width_bucket(tasks - 1, %(bounds)s::int[]), count(*), sum(tasks)::float8, 0, 0, 0
FROM recent
GROUP BY lane, 4
UNION ALL
SELECT 'late', lane, '', h.bucket::int - 1, sum(h.tasks), 0, 0, 0, 0
FROM recent CROSS JOIN LATERAL unnest(lateness) WITH ORDINALITY AS h(tasks, bucket)
WHERE h.tasks > 0
GROUP BY lane, h.bucket
