-- rescue_stranded: the net beside reap. RUNNING rows without an unfinished batch go back to due.
-- The protocol leaves none; each one found is a bug or a damaged table, so the caller raises an alert.
WITH stranded AS (
    SELECT t.id FROM punctual_task t
    WHERE t.status = 'RUNNING'
      AND NOT EXISTS (SELECT FROM punctual_batch b WHERE b.batch_no = t.batch_no AND b.finished_at IS NULL)
    LIMIT %(limit)s
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE punctual_task t
SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL, due_at = t.claimed_due,
    updated_at = clock_timestamp()
FROM stranded
WHERE t.id = stranded.id AND t.status = 'RUNNING'
  AND NOT EXISTS (SELECT FROM punctual_batch b WHERE b.batch_no = t.batch_no AND b.finished_at IS NULL)
RETURNING t.id
