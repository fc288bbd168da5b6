-- fill_sieve: the prints of all that a partition holds, spread over the buckets of its sieve, which is ready with that.
-- What comes meanwhile is added by a trigger of the partition, see migration 0081.
WITH marks AS (
    SELECT m.mark
    FROM punctual_past p
    CROSS JOIN LATERAL unnest(ARRAY[punctual_unit_mark(p.tenant, p.task_type, p.biz_key),
                                    punctual_idem_mark(p.tenant, p.idem_key)]) AS m(mark)
    WHERE p.retention = %(retention)s AND p.updated_at >= %(since)s AND p.updated_at < %(until)s AND m.mark IS NOT NULL
), buckets AS (
    SELECT punctual_bucket(mark, %(buckets)s) AS bucket, array_agg(punctual_print(mark)) AS prints FROM marks GROUP BY 1
), filled AS (
    INSERT INTO punctual_sieve_part AS part (sieve, bucket, prints)
    SELECT %(sieve)s, bucket, ARRAY(SELECT DISTINCT unnest(prints)) FROM buckets ORDER BY bucket
    ON CONFLICT (sieve, bucket) DO UPDATE SET prints = part.prints || EXCLUDED.prints
)
UPDATE punctual_sieve SET ready = TRUE WHERE id = %(sieve)s
