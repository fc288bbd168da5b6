-- pulse_lateness: how late tasks of these lanes started in this minute and the one before, as one histogram.
SELECT coalesce(array_agg(tasks ORDER BY bucket), '{}')
FROM (
    SELECT h.bucket, sum(h.count)::bigint AS tasks
    FROM punctual_pulse p CROSS JOIN LATERAL unnest(p.lateness) WITH ORDINALITY AS h(count, bucket)
    WHERE p.minute >= date_trunc('minute', now()) - interval '1 minute' AND p.lane = ANY (%(lanes)s::text[])
    GROUP BY h.bucket
) AS one
