-- roll_up: the figures of the batches that finished in whole minutes, by type, so that no chart has to read batches; and what
-- became of tasks that were away, in the minute in which it was told.
-- From the minute after the last one that is there, up to the last whole minute that ended `settled` seconds ago: what
-- finished in it has committed by then.
WITH span AS (
    SELECT greatest(
               coalesce((SELECT max(minute) + interval '1 minute' FROM punctual_minute_figures),
                        (SELECT date_trunc('minute', min(finished_at)) FROM punctual_any_batch WHERE finished_at IS NOT NULL)),
               date_trunc('minute', clock_timestamp()) - make_interval(mins => %(minutes)s)) AS since,
           date_trunc('minute', clock_timestamp() - make_interval(secs => %(settled)s)) AS until
), recent AS MATERIALIZED (
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
INSERT INTO punctual_minute_figures (minute, task_type, batches, ok, failed, run_us, lateness, returned)
SELECT f.minute, f.task_type, f.batches, f.ok, f.failed, f.run_us, coalesce(h.lateness, '{}'), f.returned
FROM figures f LEFT JOIN histogram h USING (minute, task_type)
ON CONFLICT DO NOTHING
RETURNING 1
