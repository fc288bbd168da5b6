-- move_with: move_alone, and a change of the caller's own row: both, or neither. Its row is locked first, as everywhere; only if it
-- is there and may be changed is the task looked for; only if the task has moved is the row written.
WITH own AS MATERIALIZED (
--lock
), was AS MATERIALIZED (
    SELECT t.id, t.due_at
    FROM own CROSS JOIN punctual_task t
    WHERE t.biz_key = %(key)s AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
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
SELECT moved.id, date_part('epoch', moved.due_at),
--answer
FROM moved, own, written
