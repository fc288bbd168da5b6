-- status_lateness: the batches finished lately, their figures summed, the lateness histograms bucket by bucket. Without the
-- canaries.
WITH recent AS (
    SELECT ok, failed, lateness FROM task_batch
    WHERE task_type <> %(canary)s AND finished_at > now() - make_interval(secs => %(seconds)s)
)
SELECT (SELECT coalesce(sum(ok), 0)::bigint FROM recent),
       (SELECT coalesce(sum(failed), 0)::bigint FROM recent),
       array(
           SELECT sum(h.count)::bigint
           FROM recent CROSS JOIN LATERAL unnest(lateness) WITH ORDINALITY AS h(count, bucket)
           GROUP BY h.bucket ORDER BY h.bucket
       )
