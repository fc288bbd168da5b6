-- move_with: move_alone, and a change of the caller's own row: both, or neither. Its row is locked first, as everywhere; only if it
-- may be changed is the task looked for; only if the task has moved is the row written. The row comes back in any case. If the task
-- has moved and the row was not written, the number that can't be read takes it all back.
WITH own AS MATERIALIZED (
--lock
), was AS MATERIALIZED (
    SELECT t.id, t.due_at
    FROM own CROSS JOIN punctual_task t
    WHERE own.allowed AND t.biz_key = %(key)s AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
      AND (t.status IN ('INIT', 'FAIL') OR (t.status = 'SUCCESS' AND t.due_at IS NOT NULL))
    FOR UPDATE OF t
),
--include moved_one
,
--write
, told AS (
--include tell_updated
    UNION ALL
    SELECT %(tenant)s, %(event)s::text, %(task_type)s, 1, NULL, ARRAY[%(key)s::text], NULL, NULL, NULL, NULL,
           jsonb_build_array(
--data
           )
    FROM moved, own, written
    WHERE %(event)s::text IS NOT NULL
)
SELECT CASE WHEN moved.id IS NULL OR written.is_there THEN moved.id
            ELSE ('task ' || moved.id || ' would be moved without its row: `written` is empty')::bigint END,
       date_part('epoch', moved.due_at),
--answer
FROM own LEFT JOIN moved ON TRUE LEFT JOIN (SELECT TRUE AS is_there, w.* FROM written w) AS written ON TRUE
