-- still_ours: which of these rows are RUNNING under this batch, while the batch is not finished.
SELECT t.id
FROM punctual_batch b
JOIN punctual_task t ON t.id = ANY (%(ids)s::bigint[]) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
WHERE b.batch_no = %(batch_no)s AND b.finished_at IS NULL
