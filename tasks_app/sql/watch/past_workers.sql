-- past_workers: who ran these batches, of those that are over.
SELECT b.batch_no, b.worker
FROM unnest(%(batches)s::uuid[]) AS u(batch_no)
CROSS JOIN LATERAL (SELECT batch_no, worker FROM punctual_past_batch WHERE batch_no = u.batch_no LIMIT 1) AS b
