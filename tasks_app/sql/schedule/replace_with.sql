-- replace_with: replace_alone, and a change of the caller's own row, as in move_with: both, or neither. That found that the task
-- runs, and has changed nothing; if anybody has written to the task since, neither does this. The row comes back in any case.
WITH own AS MATERIALIZED (
--lock
), u AS (
    SELECT %(old)s::bigint AS id, %(old_status)s::text AS status, %(hand_on)s::bool AS hand_on FROM own WHERE own.allowed
),
--include replaced_one
,
--write
, told AS (
--include tell_replaced
    UNION ALL
    SELECT %(tenant)s, %(event)s::text, %(task_type)s, 1, NULL, ARRAY[%(key)s::text], NULL,
           jsonb_build_array(
--data
           )
    FROM moved, own, written
    WHERE %(event)s::text IS NOT NULL
)
SELECT CASE WHEN retired.id IS NULL OR moved.id IS NOT NULL AND written.is_there THEN moved.id
            ELSE ('task ' || retired.id || ' would be replaced without its row: `written` is empty')::bigint END,
       date_part('epoch', moved.due_at),
--answer
FROM own LEFT JOIN retired ON TRUE LEFT JOIN moved ON TRUE
     LEFT JOIN (SELECT TRUE AS is_there, w.* FROM written w) AS written ON TRUE
