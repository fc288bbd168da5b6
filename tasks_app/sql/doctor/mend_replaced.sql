-- mend_replaced: a row that is over and was taken over by its own unit is current no more, wherever it lies.
WITH new AS MATERIALIZED (
    SELECT id, replaces, tenant, task_type, biz_key FROM punctual_task WHERE id = ANY (%(ids)s::bigint[])
), live AS (
    UPDATE punctual_task o SET current = FALSE, updated_at = clock_timestamp()
    FROM new
    WHERE o.id = new.replaces AND (o.tenant, o.task_type, o.biz_key) = (new.tenant, new.task_type, new.biz_key)
      AND o.current AND o.due_at IS NULL AND o.status IN ('SUCCESS', 'DEAD', 'CANCELLED')
    RETURNING new.id
), past AS (
    UPDATE punctual_past o SET current = FALSE
    FROM new
    WHERE o.id = new.replaces AND (o.tenant, o.task_type, o.biz_key) = (new.tenant, new.task_type, new.biz_key) AND o.current
    RETURNING new.id
)
SELECT id FROM live UNION SELECT id FROM past
