-- mark_success: RUNNING rows of this batch -> SUCCESS; a rolling one is due again after its interval.
-- The batch row is locked first and must not be finished: that fences off a worker whose batch was reaped.
-- Times come as microseconds since the batch's start, which costs far less than a thousand timestamps.
WITH b AS (
    SELECT batch_no, started_at FROM task_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), moved AS (
    UPDATE schedule_task t
    SET status = 'SUCCESS', batch_no = NULL, solo = FALSE, attempt = 0, error_code = '', error_msg = '',
        start_time = b.started_at + u.begun * interval '1 microsecond',
        finish_time = b.started_at + u.ended * interval '1 microsecond',
        due_at = b.started_at + u.ended * interval '1 microsecond' + t.repeat_after,
        updated_at = clock_timestamp()
    FROM b, unnest(%(ids)s::bigint[], %(begun)s::bigint[], %(ended)s::bigint[]) AS u(id, begun, ended)
    WHERE t.id = u.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO outbox_event (tenant, event, task_id)
    SELECT tenant, 'task.succeeded', id FROM moved
)
UPDATE task_batch
SET ok = ok + (SELECT count(*) FROM moved),
    finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b
WHERE task_batch.batch_no = b.batch_no
RETURNING (SELECT count(*) FROM moved)
