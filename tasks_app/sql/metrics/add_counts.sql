-- add_counts: to each count what came since, bucket by bucket if it is a histogram.
INSERT INTO punctual_count AS c (name, labels, value, buckets)
SELECT new.name, new.labels, new.value, new.buckets
FROM jsonb_to_recordset(%(rows)s::jsonb) AS new(name text, labels text, value float8, buckets bigint[])
ORDER BY new.name, new.labels
ON CONFLICT (name, labels) DO UPDATE
SET value = c.value + excluded.value,
    buckets = CASE WHEN excluded.buckets IS NOT NULL THEN (
        SELECT array_agg(coalesce(old.tasks, 0) + coalesce(more.tasks, 0) ORDER BY bucket)
        FROM unnest(c.buckets) WITH ORDINALITY AS old(tasks, bucket)
        FULL JOIN unnest(excluded.buckets) WITH ORDINALITY AS more(tasks, bucket) USING (bucket)
    ) END
