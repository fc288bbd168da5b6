-- hold_beyond: of a batch that a worker has just started, the tasks beyond what their tenant may have at the same time -> put
-- aside, as hold_started does. The caller has locked the tenants, and counted.
WITH b AS MATERIALIZED (
    SELECT batch_no FROM punctual_batch WHERE batch_no = %(batch_no)s AND finished_at IS NULL FOR NO KEY UPDATE
), mine AS MATERIALIZED (
    SELECT t.id, t.tenant, t.claimed_due, b.batch_no
    FROM b JOIN punctual_task t ON t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
), kept AS (
    INSERT INTO punctual_held (task, tenant, due_at) SELECT id, tenant, claimed_due FROM mine
    ON CONFLICT (task) DO UPDATE SET due_at = excluded.due_at, at = clock_timestamp()
)
UPDATE punctual_task t
SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL, due_at = %(never)s::timestamptz,
    updated_at = clock_timestamp()
FROM mine
WHERE t.id = mine.id AND t.status = 'RUNNING' AND t.batch_no = mine.batch_no
RETURNING t.id
