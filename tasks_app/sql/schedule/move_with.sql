-- move_with: move_alone, and a change of the caller's own row: both, or neither. Its row is locked first, as everywhere; only if it
-- may be changed is the task looked for; only if the task has moved is the row written. The row comes back in any case, and so does
-- the task, if it was looked for and is there, as it was before. If the task has moved and the row was not written, the number that
-- can't be read takes it all back.
WITH own AS MATERIALIZED (
--lock
), was AS MATERIALIZED (
    SELECT t.id, t.status, t.due_at, t.idem_key, t.job, t.xmin AS version
    FROM own CROSS JOIN punctual_task t
    WHERE own.allowed AND t.biz_key = %(key)s AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
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
SELECT was.id, was.status, was.due_at IS NOT NULL, was.idem_key, was.job, was.version::text,
       CASE WHEN moved.id IS NULL OR written.is_there THEN date_part('epoch', moved.due_at)
            ELSE ('task ' || moved.id || ' would be moved without its row: `written` is empty')::float8 END,
--answer
FROM own LEFT JOIN was ON TRUE LEFT JOIN moved ON TRUE LEFT JOIN (SELECT TRUE AS is_there, w.* FROM written w) AS written ON TRUE
