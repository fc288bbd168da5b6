-- differing: which of the wanted units have no live task, or one that is scheduled for another time.
-- One whose run is under way is left out whatever its time: it settles by itself, and what is then left is seen by the next look.
-- LIMIT keeps the look-up a look-up: joined freely, a page of wanted rows makes PostgreSQL read the whole table.
WITH wanted(key, at) AS MATERIALIZED (
--rows
)
SELECT w.key, t.id, t.status, t.execute_time, t.error_code, t.cancelled_by,
       coalesce(t.due_at IS NOT NULL OR t.status = 'BLOCKED', FALSE),
       coalesce(t.status = 'CANCELLED' AND t.cancelled_from <> t.tenant, FALSE)
FROM wanted w
LEFT JOIN LATERAL (
    SELECT id FROM punctual_task
    WHERE biz_key = w.key AND task_type = %(task_type)s AND tenant = %(tenant)s AND current
    LIMIT 1
) AS live ON TRUE
LEFT JOIN LATERAL (
    (SELECT id, tenant, status, due_at, execute_time, error_code, cancelled_by, cancelled_from FROM punctual_task WHERE id = live.id LIMIT 1)
    UNION ALL
    -- What is over may still say why nothing is live: somebody cancelled it.
    (SELECT id, tenant, status, due_at, execute_time, error_code, cancelled_by, cancelled_from FROM punctual_past
     WHERE live.id IS NULL AND biz_key = w.key AND task_type = %(task_type)s AND tenant = %(tenant)s AND current
     ORDER BY id DESC
     LIMIT 1)
) AS t ON TRUE
WHERE t.id IS NULL
   OR (t.status NOT IN ('RUNNING', 'AWAY') AND (t.execute_time <> w.at OR (t.due_at IS NULL AND t.status <> 'BLOCKED')))
LIMIT %(most)s
