-- past_current: the newest current row of a unit among what is over, whole; see past_units, which tells a few things of many.
SELECT
--include columns
    , retention, worker
FROM unnest(%(classes)s::text[], %(hot)s::float8[]) AS c(class, hot)
JOIN punctual_past p ON p.retention = c.class AND p.updated_at >= statement_timestamp() - make_interval(secs => c.hot)
WHERE p.biz_key = %(key)s AND p.task_type = %(type)s AND p.tenant = %(tenant)s AND p.current
ORDER BY id DESC
LIMIT 1
