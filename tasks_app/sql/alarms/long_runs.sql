-- long_runs: what has been running for longer than that, by batch, tenant and job; the longest first.
-- Of a batch with several tasks only its start is known while it runs: those that are not done count as running since then.
WITH long AS MATERIALIZED (
    SELECT b.batch_no, b.task_type, b.worker, b.ids, b.started_at
    FROM punctual_batch b
    WHERE b.finished_at IS NULL AND b.started_at < (SELECT clock_timestamp()) - make_interval(secs => %(seconds)s)
    ORDER BY b.started_at
    LIMIT %(most)s
)
SELECT l.task_type, l.worker, t.tenant, t.job, count(*), min(t.id), min(t.biz_key),
       date_part('epoch', clock_timestamp() - l.started_at)
FROM long l
CROSS JOIN LATERAL unnest(l.ids) AS one(id)
CROSS JOIN LATERAL (
    SELECT t.id, t.tenant, t.job, t.biz_key FROM punctual_task t
    WHERE t.id = one.id AND t.batch_no = l.batch_no AND t.status = 'RUNNING'
    LIMIT 1
) AS t
GROUP BY l.batch_no, l.task_type, l.worker, l.started_at, t.tenant, t.job
