-- replace_alone: what move_alone found and could not move, since it runs or is over, makes room for a new row: retire and
-- insert_replacements for one, if nobody has written to it since. Nothing comes back in any other case: the caller looks again.
-- A row that is retired and has no successor can't be; if it is, the number that can't be read takes it back.
WITH u AS (
    SELECT %(old)s::bigint AS id, %(old_status)s::text AS status, %(hand_on)s::bool AS hand_on
),
--include replaced_one
, told AS (
--include tell_replaced
)
SELECT coalesce(moved.id, ('task ' || retired.id || ' has no successor')::bigint), date_part('epoch', moved.due_at)
FROM retired LEFT JOIN moved ON TRUE
