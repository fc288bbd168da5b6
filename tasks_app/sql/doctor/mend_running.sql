-- mend_running: RUNNING rows that no unfinished batch lists are due again; what is not RUNNING is in no batch.
UPDATE punctual_task t
SET status = CASE WHEN t.status <> 'RUNNING' THEN t.status WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END,
    due_at = CASE t.status WHEN 'RUNNING' THEN coalesce(t.claimed_due, t.execute_time) ELSE t.due_at END,
    batch_no = NULL, updated_at = clock_timestamp()
WHERE t.id = ANY (%(ids)s::bigint[]) AND (t.status = 'RUNNING' OR t.batch_no IS NOT NULL)
  AND (t.status <> 'RUNNING' OR NOT EXISTS (
      SELECT FROM punctual_batch b WHERE b.batch_no = t.batch_no AND b.finished_at IS NULL AND t.id = ANY (b.ids)))
RETURNING t.id
