-- mark_success: RUNNING rows of this batch -> SUCCESS; a rolling one is due again after its interval.
-- The rows are found, locked and written in one go, in order of their ids since the ids come sorted. `place`, a row's
-- position in them, is found by binary search: a join with unnest() can turn into a thousand scans of a thousand values.
-- Times come as microseconds since the batch's start, which costs far less than a thousand timestamps.
WITH
--include batch
, moved AS (
    UPDATE schedule_task t
    SET status = 'SUCCESS', batch_no = NULL, solo = FALSE, attempt = 0, error_code = '', error_msg = '',
        start_time = b.started_at
            + (%(begun)s::bigint[])[width_bucket(t.id, %(ids)s::bigint[])] * interval '1 microsecond',
        finish_time = b.started_at
            + (%(ended)s::bigint[])[width_bucket(t.id, %(ids)s::bigint[])] * interval '1 microsecond',
        due_at = b.started_at
            + (%(ended)s::bigint[])[width_bucket(t.id, %(ids)s::bigint[])] * interval '1 microsecond' + t.repeat_after,
        updated_at = clock_timestamp()
    FROM b
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant
), told AS (
    INSERT INTO outbox_event (tenant, event, task_id)
    SELECT tenant, 'task.succeeded', id FROM moved
)
--include figures
