-- cancel: whatever is live of this unit -> CANCELLED. Takes a rolling SUCCESS too, by clearing due_at.
-- What it was comes back, under the lock, which may be later than what this statement saw when it began. If nothing of it was live,
-- or is not any more, its current row comes back as this statement saw it.
WITH was AS MATERIALIZED (
    SELECT t.id, t.status FROM punctual_task t
    WHERE t.biz_key = %(key)s AND t.task_type = %(type)s AND t.tenant = %(tenant)s AND t.current AND
--include live
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', due_at = NULL, batch_no = NULL, error_code = 'CANCELLED', error_msg = %(reason)s,
        cancelled_by = %(by)s, updated_at = clock_timestamp(),
--include end_of_run
    FROM was
    WHERE t.id = was.id AND t.current AND
--include live
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, was.status AS was
), told AS (
--include tell_cancelled
)
SELECT id, was, NULL AS due, TRUE AS cancelled FROM moved
UNION ALL
SELECT t.id, t.status, t.due_at IS NOT NULL, FALSE
FROM punctual_task t
WHERE t.biz_key = %(key)s AND t.task_type = %(type)s AND t.tenant = %(tenant)s AND t.current AND NOT EXISTS (SELECT FROM moved)
