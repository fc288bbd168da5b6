-- move_alone: reschedule of one unit, if nobody runs its current row and that waits for nobody: locked and moved at once.
-- Whatever it is, the row comes back as it is under the lock, which may be later than what this statement saw when it began; and
-- with it the transaction that wrote it, by which replace_alone knows it again.
WITH was AS MATERIALIZED (
    SELECT t.id, t.status, t.due_at, t.idem_key, t.job, t.xmin AS version
    FROM punctual_task t
    WHERE t.biz_key = %(key)s AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
    FOR UPDATE
),
--include moved_one
, told AS (
--include tell_updated
)
SELECT was.id, was.status, was.due_at IS NOT NULL, was.idem_key, was.job, was.version::text, date_part('epoch', moved.due_at)
FROM was LEFT JOIN moved ON TRUE
