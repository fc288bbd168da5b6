-- minute_sums: the figures of the batches that finished in a `span`, and of what was told in it of tasks that were away, by minute
-- and type. Part of roll_up and mend_minute.
recent AS MATERIALIZED (
    SELECT date_trunc('minute', b.finished_at) AS minute, b.task_type, 1 AS batches, b.ok, b.failed, b.run_us, b.lateness,
           0 AS returned
    FROM span, punctual_any_batch b
    WHERE b.finished_at >= span.since AND b.finished_at < span.until
    UNION ALL
    SELECT date_trunc('minute', o.at), o.task_type, 0, o.ok, o.failed, 0, '{}', o.ok + o.failed
    FROM span, punctual_away_outcome o
    WHERE o.at >= span.since AND o.at < span.until
), bucket AS (
    SELECT minute, task_type, h.bucket, sum(h.count)::int AS tasks
    FROM recent CROSS JOIN LATERAL unnest(lateness) WITH ORDINALITY AS h(count, bucket)
    GROUP BY minute, task_type, h.bucket
), histogram AS (
    SELECT minute, task_type, array_agg(tasks ORDER BY bucket) AS lateness FROM bucket GROUP BY minute, task_type
), figures AS (
    SELECT minute, task_type, sum(batches) AS batches, sum(ok) AS ok, sum(failed) AS failed, sum(run_us) AS run_us,
           sum(returned) AS returned
    FROM recent GROUP BY minute, task_type
)
