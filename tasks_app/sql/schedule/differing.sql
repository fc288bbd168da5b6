-- differing: which of the wanted units have no live task, or one that is scheduled for another time.
-- One whose run is under way is left out whatever its time: it settles by itself, and what is then left is seen by the next look.
-- LIMIT keeps the look-up a look-up: joined freely, a page of wanted rows makes PostgreSQL read the whole table.
-- What is over is looked for last, for the few that have nothing live: asked for each wanted row, PostgreSQL would go to
-- every partition just to find that it need not be read.
WITH wanted(key, at) AS MATERIALIZED (
--rows
), found AS MATERIALIZED (
    SELECT w.key, live.*
    FROM wanted w
    LEFT JOIN LATERAL (
        SELECT id, tenant, status, due_at, execute_time, error_code, cancelled_by, cancelled_from FROM punctual_task
        WHERE biz_key = w.key AND task_type = %(task_type)s AND tenant = %(tenant)s AND current
        LIMIT 1
    ) AS live ON TRUE
    WHERE live.id IS NULL
       OR (live.status NOT IN ('RUNNING', 'AWAY')
           AND (live.execute_time <> w.at OR (live.due_at IS NULL AND live.status <> 'BLOCKED')))
    LIMIT %(most)s
)
SELECT f.key, t.id, t.status, t.execute_time, t.error_code, t.cancelled_by,
       coalesce(t.due_at IS NOT NULL OR t.status = 'BLOCKED', FALSE),
       coalesce(t.status = 'CANCELLED' AND t.cancelled_from <> t.tenant, FALSE)
FROM found f
LEFT JOIN LATERAL (
    SELECT f.id, f.tenant, f.status, f.due_at, f.execute_time, f.error_code, f.cancelled_by, f.cancelled_from
    WHERE f.id IS NOT NULL
    UNION ALL
    -- What is over may still say why nothing is live: somebody cancelled it.
    (SELECT id, tenant, status, due_at, execute_time, error_code, cancelled_by, cancelled_from FROM punctual_past
     WHERE f.id IS NULL AND biz_key = f.key AND task_type = %(task_type)s AND tenant = %(tenant)s AND current
     ORDER BY id DESC
     LIMIT 1)
) AS t ON TRUE
