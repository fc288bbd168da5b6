-- cancel: whatever is live of these units -> CANCELLED. Takes a rolling SUCCESS too, by clearing due_at.
WITH moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', due_at = NULL, batch_no = NULL, error_code = 'CANCELLED', error_msg = %(reason)s,
        cancelled_by = %(by)s, updated_at = clock_timestamp(),
--include end_of_run
    WHERE t.tenant = %(tenant)s AND t.task_type = %(type)s AND t.biz_key = %(key)s AND t.current AND
--include live
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO punctual_outbox (tenant, event, task_id)
    SELECT tenant, 'task.cancelled', id FROM moved
)
SELECT id FROM moved
