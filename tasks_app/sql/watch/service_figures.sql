-- service_figures: the figures of each minute of a time over all types but the canaries, as they were rolled up.
WITH rolled AS MATERIALIZED (
    SELECT minute, ok, failed, lateness FROM punctual_minute_figures
    WHERE minute >= %(since)s AND minute < %(until)s AND task_type <> %(type)s
), bucket AS (
    SELECT minute, h.bucket, sum(h.count)::bigint AS tasks
    FROM rolled CROSS JOIN LATERAL unnest(lateness) WITH ORDINALITY AS h(count, bucket)
    GROUP BY minute, h.bucket
), histogram AS (
    SELECT minute, array_agg(tasks ORDER BY bucket) AS lateness FROM bucket GROUP BY minute
)
SELECT f.minute, f.ok, f.failed, coalesce(h.lateness, '{}')
FROM (SELECT minute, sum(ok)::bigint AS ok, sum(failed)::bigint AS failed FROM rolled GROUP BY minute) AS f
LEFT JOIN histogram h USING (minute)
