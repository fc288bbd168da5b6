-- mark_not_yet: RUNNING rows of this batch -> INIT, planned anew for the moment the handler named; no retry used.
WITH b AS (
    SELECT batch_no FROM task_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), moved AS (
    UPDATE schedule_task t
    SET status = 'INIT', batch_no = NULL, solo = FALSE, execute_time = u.until, due_at = u.until,
        updated_at = clock_timestamp()
    FROM b, unnest(%(ids)s::bigint[], %(untils)s::timestamptz[]) AS u(id, until)
    WHERE t.id = u.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO outbox_event (tenant, event, task_id)
    SELECT tenant, 'task.snoozed', id FROM moved
)
UPDATE task_batch
SET finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END, run_us = %(run_us)s, lateness = %(lateness)s
FROM b
WHERE task_batch.batch_no = b.batch_no
RETURNING (SELECT count(*) FROM moved)
