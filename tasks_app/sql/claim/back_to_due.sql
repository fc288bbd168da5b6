-- The rows in `mine` become due again. Shared by return_batch and return_unstarted.
UPDATE punctual_task t
SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL, due_at = t.claimed_due,
    limited = t.limited OR %(limited)s, updated_at = clock_timestamp()
FROM mine
WHERE t.id = mine.id AND t.status = 'RUNNING' AND t.batch_no = mine.batch_no
RETURNING t.id
