-- mend_timetable: what waits where nobody looks waits apart.
UPDATE punctual_task t
SET wait_at = t.due_at, updated_at = clock_timestamp()
WHERE t.id = ANY (%(ids)s::bigint[]) AND t.wait_at IS DISTINCT FROM t.due_at
RETURNING t.id
