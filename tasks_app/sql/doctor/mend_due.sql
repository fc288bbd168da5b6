-- mend_due: what is to be tried, and has no due moment, gets the one it had; one that rolls, its next.
UPDATE punctual_task t
SET due_at = CASE t.status WHEN 'SUCCESS' THEN coalesce(t.finish_time, clock_timestamp()) + t.repeat_after
                           ELSE coalesce(t.claimed_due, t.execute_time) END,
    updated_at = clock_timestamp()
WHERE t.id = ANY (%(ids)s::bigint[]) AND t.current AND t.due_at IS NULL
  AND (t.status IN ('INIT', 'FAIL') OR (t.status = 'SUCCESS' AND t.repeat_after IS NOT NULL))
RETURNING t.id
