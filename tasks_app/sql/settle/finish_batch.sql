-- finish_batch: finish a batch that has no RUNNING rows any more.
UPDATE punctual_batch b
SET finished_at = clock_timestamp()
WHERE b.batch_no = %(batch_no)s AND b.finished_at IS NULL
  AND NOT EXISTS (
      SELECT FROM punctual_task t
      WHERE t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no)
RETURNING b.batch_no
