-- mark_success: RUNNING rows of this batch -> SUCCESS; a rolling one is due again after its interval.
-- Times come as microseconds since the batch's start, which costs far less than a thousand timestamps.
WITH
--include held
, moved AS (
    UPDATE schedule_task t
    SET status = 'SUCCESS', batch_no = NULL, solo = FALSE, attempt = 0, error_code = '', error_msg = '',
        start_time = b.started_at + (%(begun)s::bigint[])[mine.place] * interval '1 microsecond',
        finish_time = b.started_at + (%(ended)s::bigint[])[mine.place] * interval '1 microsecond',
        due_at = b.started_at + (%(ended)s::bigint[])[mine.place] * interval '1 microsecond' + t.repeat_after,
        updated_at = clock_timestamp()
    FROM b, mine
    WHERE t.id = mine.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, 'ok' AS outcome
), told AS (
    INSERT INTO outbox_event (tenant, event, task_id)
    SELECT tenant, 'task.succeeded', id FROM moved
)
--include figures
