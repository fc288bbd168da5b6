-- worker_batches: the latest batches of one worker among so many that finished last, and how many were looked at: no index is by
-- worker, which every start would pay for.
WITH newest AS MATERIALIZED (
    SELECT b.batch_no, b.worker, b.task_type, b.lane, cardinality(b.ids) AS tasks, b.ok, b.failed, b.reaped, b.started_at, b.finished_at
    FROM punctual_any_batch b
    WHERE b.finished_at <= coalesce(%(until)s::timestamptz, 'infinity')
    ORDER BY b.finished_at DESC
    LIMIT 2000
), its_own AS (
    SELECT * FROM newest
    WHERE started_at IS NOT NULL AND (worker = %(worker)s OR starts_with(worker, %(worker)s || ':'))
    ORDER BY finished_at DESC
    LIMIT %(most)s
)
SELECT looked.many, o.batch_no::text, o.worker, o.task_type, o.lane, o.tasks, o.ok, o.failed, o.reaped, o.started_at, o.finished_at
FROM (SELECT count(*) AS many FROM newest) AS looked
LEFT JOIN its_own o ON TRUE
ORDER BY o.finished_at DESC
