-- roll_up_hours: the figures of minutes, summed up for each hour over all types but the canaries. Of the hours from `back` on,
-- those that are there and now have more, and all from `since` on: one in which nothing ran has a row too, since the last row is
-- how far this has got.
-- Histograms are added up, so that an hour's percentiles are as exact as a minute's. Whoever has seen less changes nothing.
WITH rolled AS MATERIALIZED (
    SELECT date_trunc('hour', minute, 'UTC') AS hour, batches, returned, ok, failed, lateness FROM punctual_minute_figures
    WHERE minute >= %(back)s AND minute < %(until)s AND task_type <> %(type)s
), bucket AS (
    SELECT hour, h.bucket, sum(h.count)::bigint AS tasks
    FROM rolled CROSS JOIN LATERAL unnest(lateness) WITH ORDINALITY AS h(count, bucket)
    GROUP BY hour, h.bucket
), histogram AS (
    SELECT hour, array_agg(tasks ORDER BY bucket) AS lateness FROM bucket GROUP BY hour
), figures AS (
    SELECT hour, sum(batches) AS batches, sum(returned) AS returned, sum(ok) AS ok, sum(failed) AS failed
    FROM rolled GROUP BY hour
)
INSERT INTO punctual_hour_figures AS h (hour, batches, returned, ok, failed, lateness)
SELECT hour, coalesce(f.batches, 0), coalesce(f.returned, 0), coalesce(f.ok, 0), coalesce(f.failed, 0), coalesce(l.lateness, '{}')
FROM generate_series(%(back)s::timestamptz, %(until)s::timestamptz - interval '1 hour', interval '1 hour') AS hour
LEFT JOIN figures f USING (hour) LEFT JOIN histogram l USING (hour)
WHERE hour >= %(since)s OR f.hour IS NOT NULL
ON CONFLICT (hour) DO UPDATE
SET batches = excluded.batches, returned = excluded.returned, ok = excluded.ok, failed = excluded.failed,
    lateness = excluded.lateness
WHERE excluded.batches + excluded.returned > h.batches + h.returned
RETURNING 1
