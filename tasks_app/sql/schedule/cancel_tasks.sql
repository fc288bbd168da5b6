-- cancel_tasks: cancel for rows that an operator chose; only what is live of them -> CANCELLED.
WITH mine AS MATERIALIZED (
    SELECT id FROM punctual_task WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', due_at = NULL, batch_no = NULL, error_code = 'CANCELLED', error_msg = %(reason)s,
        cancelled_by = %(by)s, cancelled_from = %(from)s::text, updated_at = clock_timestamp(),
--include end_of_run
    FROM mine
    WHERE t.id = mine.id AND t.current AND
--include live
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO punctual_outbox (tenant, event, task_id)
    SELECT tenant, 'task.cancelled', id FROM moved
)
SELECT id FROM moved
