-- prune_owned_units: whose units were, of which no task is left beside the past, in a small step. What is live, or was of late,
-- has a row with its unit; of the rest nothing can be changed any more. Those that stay come again later, behind the others.
WITH old AS MATERIALIZED (
    SELECT id, tenant, task_type, biz_key FROM punctual_owned_unit
    WHERE at < now() - make_interval(secs => %(keep)s)
    ORDER BY at LIMIT %(step)s
    FOR UPDATE SKIP LOCKED
), kept AS MATERIALIZED (
    SELECT o.id FROM old o CROSS JOIN LATERAL (
        SELECT FROM punctual_task t
        WHERE t.biz_key = o.biz_key AND t.task_type = o.task_type AND t.tenant = o.tenant AND t.current LIMIT 1
    ) AS there
), later AS (
    UPDATE punctual_owned_unit u SET at = now() FROM kept WHERE u.id = kept.id
)
DELETE FROM punctual_owned_unit u USING old
WHERE u.id = old.id AND u.id <> ALL (ARRAY(SELECT id FROM kept))
RETURNING 1
