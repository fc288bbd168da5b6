-- mend_over: what is finished, or under way, loses its due moment.
UPDATE punctual_task t
SET due_at = NULL, updated_at = clock_timestamp()
WHERE t.id = ANY (%(ids)s::bigint[]) AND t.due_at IS NOT NULL AND t.status NOT IN ('INIT', 'FAIL')
  AND (t.status <> 'SUCCESS' OR t.repeat_after IS NULL)
RETURNING t.id
