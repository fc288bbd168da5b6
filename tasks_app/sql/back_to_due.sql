-- The rows of the batches in `b` are due again. Shared by return_batch and return_unstarted.
), mine AS MATERIALIZED (
    SELECT t.id, b.batch_no
    FROM b JOIN schedule_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    ORDER BY t.id
    FOR NO KEY UPDATE OF t
)
UPDATE schedule_task t
SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL, due_at = t.claimed_due,
    limited = t.limited OR %(limited)s, updated_at = clock_timestamp()
FROM mine
WHERE t.id = mine.id AND t.status = 'RUNNING' AND t.batch_no = mine.batch_no
RETURNING t.id
