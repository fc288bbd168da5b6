-- hold_limited: of types that have a limit, the first that are due of tenants that are suspended -> put aside, as hold_started
-- does, before they take permits and places from others. Only the head of each line is looked at: claim_limited takes from there.
WITH here AS MATERIALIZED (
    SELECT name FROM punctual_tenant
    WHERE name = ANY (%(tenants)s::text[]) AND state = 'SUSPENDED'
    ORDER BY name
    FOR SHARE
), head AS MATERIALIZED (
    SELECT d.id
    FROM unnest(%(types)s::text[], %(lanes)s::text[]) AS w(task_type, lane)
    CROSS JOIN LATERAL (
        SELECT t.id, t.tenant
        FROM punctual_task t
        WHERE t.limited AND t.task_type = w.task_type AND t.lane = w.lane AND t.wait_at <= (SELECT clock_timestamp())
        ORDER BY t.wait_at
        LIMIT %(most)s
    ) AS d
    WHERE d.tenant IN (SELECT name FROM here)
), mine AS MATERIALIZED (
    SELECT t.id, t.tenant, t.due_at
    FROM head JOIN punctual_task t ON t.id = head.id
    WHERE t.due_at <= (SELECT clock_timestamp()) AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), kept AS (
    INSERT INTO punctual_held (task, tenant, due_at) SELECT id, tenant, due_at FROM mine
    ON CONFLICT (task) DO UPDATE SET due_at = excluded.due_at, at = clock_timestamp()
)
UPDATE punctual_task t
SET due_at = %(never)s::timestamptz, updated_at = clock_timestamp()
FROM mine
WHERE t.id = mine.id AND t.due_at = mine.due_at AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
RETURNING t.id
