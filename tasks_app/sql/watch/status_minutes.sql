-- status_minutes: the figures of the last minutes by minute and type: rolled up where they are, else from the batches, and from
-- what was told of tasks that were away.
-- The batches are bounded, the newest first: if nobody rolls up, an hour of them would take longer than anybody waits.
-- Counts are of all of them; of the histograms, which cost most, about five hundred are enough. Their buckets are summed up on
-- their own: together with the order of an array they would be sorted first, on disk.
-- now() and not clock_timestamp(), which no index can be searched with.
WITH rolled AS (
    SELECT minute, task_type, ok::bigint, failed::bigint, lateness::bigint[] FROM punctual_minute_figures
    WHERE minute >= date_trunc('minute', now()) - make_interval(mins => %(minutes)s)
), unrolled AS MATERIALIZED (
    SELECT greatest(coalesce((SELECT max(minute) + interval '1 minute' FROM rolled), '-infinity'),
                    date_trunc('minute', now()) - make_interval(mins => %(minutes)s)) AS since
), recent AS MATERIALIZED (
    SELECT date_trunc('minute', finished_at) AS minute, task_type, ok, failed, lateness,
           row_number() OVER (ORDER BY finished_at DESC) AS place, count(*) OVER () AS total
    FROM (
        SELECT finished_at, task_type, ok, failed, lateness FROM punctual_any_batch
        WHERE finished_at >= (SELECT since FROM unrolled)
        ORDER BY finished_at DESC
        LIMIT 20000
    ) AS newest
), told AS (
    SELECT at, task_type, ok, failed FROM punctual_away_outcome
    WHERE at >= (SELECT since FROM unrolled)
    ORDER BY at DESC
    LIMIT 20000
), bucket AS MATERIALIZED (
    SELECT minute, task_type, bucket, sum(count)::bigint AS tasks
    FROM (SELECT minute, task_type, unnest(lateness) AS count, generate_subscripts(lateness, 1) AS bucket
          FROM recent WHERE place %% (total / 500 + 1) = 0) AS h
    GROUP BY minute, task_type, bucket
), histogram AS (
    SELECT minute, task_type, array_agg(tasks ORDER BY bucket) AS lateness FROM bucket GROUP BY minute, task_type
), figures AS (
    SELECT minute, task_type, sum(ok)::bigint AS ok, sum(failed)::bigint AS failed
    FROM (SELECT minute, task_type, ok, failed FROM recent
          UNION ALL
          SELECT date_trunc('minute', at), task_type, ok, failed FROM told) AS both_of_them
    GROUP BY minute, task_type
)
SELECT * FROM rolled
UNION ALL
SELECT f.minute, f.task_type, f.ok, f.failed, coalesce(h.lateness, '{}')
FROM figures f LEFT JOIN histogram h USING (minute, task_type)
ORDER BY minute, task_type
