-- check_running: RUNNING means held by an unfinished batch that lists it; nothing else has a batch.
SELECT t.id, t.status
FROM (
    SELECT * FROM punctual_task
    WHERE id > %(after)s AND id <= %(last)s ORDER BY id LIMIT %(step)s
) AS t
WHERE (t.status = 'RUNNING' OR t.batch_no IS NOT NULL)
  AND (t.status <> 'RUNNING' OR (
      SELECT count(*) FROM punctual_batch b
      WHERE b.batch_no = t.batch_no AND b.finished_at IS NULL AND t.id = ANY (b.ids)) = 0)
