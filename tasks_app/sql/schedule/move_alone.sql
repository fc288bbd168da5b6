-- move_alone: reschedule of one unit, if nobody runs its current row and that waits for nobody: locked and moved at once.
-- Nothing comes back in any other case: the caller looks at what is there then. `was` is the row as it is under the lock, which
-- may be later than what this statement saw when it began.
WITH was AS MATERIALIZED (
    SELECT t.id, t.due_at
    FROM punctual_task t
    WHERE t.biz_key = %(key)s AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
      AND (t.status IN ('INIT', 'FAIL') OR (t.status = 'SUCCESS' AND t.due_at IS NOT NULL))
    FOR UPDATE
),
--include moved_one
, told AS (
--include tell_updated
)
SELECT id, date_part('epoch', due_at) FROM moved
