-- mark_skipped: RUNNING rows of this batch -> CANCELLED, because the handler or the deadline said so.
WITH b AS (
    SELECT batch_no FROM task_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), moved AS (
    UPDATE schedule_task t
    SET status = 'CANCELLED', batch_no = NULL, error_code = u.code, error_msg = u.reason,
        cancelled_by = 'handler', finish_time = clock_timestamp(), updated_at = clock_timestamp()
    FROM b, unnest(%(ids)s::bigint[], %(codes)s::text[], %(reasons)s::text[]) AS u(id, code, reason)
    WHERE t.id = u.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO outbox_event (tenant, event, task_id)
    SELECT tenant, 'task.cancelled', id FROM moved
)
UPDATE task_batch
SET finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END, run_us = %(run_us)s, lateness = %(lateness)s
FROM b
WHERE task_batch.batch_no = b.batch_no
RETURNING (SELECT count(*) FROM moved)
