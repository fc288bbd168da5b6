-- mark_fail: RUNNING rows of this batch -> FAIL with a next try, or DEAD with a dead letter.
-- `final` is mark_fail_unrecoverable, else mark_fail_retryable: then the row's own budget decides.
-- A rolling task never dies: after its last failure it rolls. An attempt row is kept for each failure.
WITH b AS (
    SELECT batch_no, started_at, worker FROM task_batch
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
    FOR NO KEY UPDATE
), u AS (
    SELECT id, begun, ended, delay_ms, final, code, message
    FROM unnest(%(ids)s::bigint[], %(begun)s::bigint[], %(ended)s::bigint[], %(delays_ms)s::bigint[],
                %(final)s::bool[], %(codes)s::text[], %(messages)s::text[])
         AS given(id, begun, ended, delay_ms, final, code, message)
), moved AS (
    UPDATE schedule_task t
    SET status = CASE WHEN (u.final OR t.attempt >= t.max_retry) AND t.repeat_after IS NULL
                      THEN 'DEAD' ELSE 'FAIL' END,
        due_at = CASE WHEN NOT (u.final OR t.attempt >= t.max_retry)
                      THEN clock_timestamp() + u.delay_ms * interval '1 millisecond'
                      ELSE b.started_at + u.ended * interval '1 microsecond' + t.repeat_after END,
        attempt = CASE WHEN (u.final OR t.attempt >= t.max_retry) AND t.repeat_after IS NOT NULL
                       THEN 0 ELSE t.attempt + 1 END,
        retry_count = t.retry_count + 1,
        batch_no = NULL, solo = FALSE, error_code = u.code, error_msg = u.message,
        start_time = b.started_at + u.begun * interval '1 microsecond',
        finish_time = b.started_at + u.ended * interval '1 microsecond',
        updated_at = clock_timestamp()
    FROM b, u
    WHERE t.id = u.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, t.task_type, t.status, t.attempt, t.error_code, t.error_msg, t.start_time, t.finish_time
), tried AS (
    INSERT INTO task_attempt (task_id, attempt, batch_no, worker, started_at, finished_at, error_code, error_msg)
    SELECT m.id, n.attempt, b.batch_no, b.worker, m.start_time, m.finish_time, m.error_code, m.error_msg
    FROM moved m
    JOIN unnest(%(ids)s::bigint[], %(attempts)s::int[]) AS n(id, attempt) USING (id), b
), buried AS (
    INSERT INTO dlq_entry (task_id, tenant, task_type, error_code, error_msg)
    SELECT id, tenant, task_type, error_code, error_msg FROM moved WHERE status = 'DEAD'
), told AS (
    INSERT INTO outbox_event (tenant, event, task_id)
    SELECT tenant, CASE status WHEN 'DEAD' THEN 'task.dead' ELSE 'task.failed' END, id FROM moved
)
UPDATE task_batch
SET failed = failed + (SELECT count(*) FROM moved),
    finished_at = CASE WHEN %(finish)s THEN clock_timestamp() END,
    run_us = %(run_us)s, lateness = %(lateness)s
FROM b
WHERE task_batch.batch_no = b.batch_no
RETURNING (SELECT count(*) FROM moved)
