-- past_current: the newest current row of a unit among what is over, whole; see past_units, which tells a few things of many.
WITH
--include sieves
SELECT found.*
FROM punctual_unit_mark(%(tenant)s, %(type)s, %(key)s) AS one(mark)
CROSS JOIN LATERAL (
--include stretches
) AS s
CROSS JOIN LATERAL (
    SELECT
--include columns
    , retention, worker
    FROM punctual_past p
    WHERE p.retention = s.retention AND p.updated_at >= s.since AND p.updated_at < s.until
      AND p.biz_key = %(key)s AND p.task_type = %(type)s AND p.tenant = %(tenant)s AND p.current
    ORDER BY p.id DESC
    LIMIT 1
) AS found
ORDER BY found.id DESC
LIMIT 1
