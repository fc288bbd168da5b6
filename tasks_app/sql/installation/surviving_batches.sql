-- surviving_batches: which of these batches are settled on this server, too. One that was reaped here was lost here.
SELECT batch_no FROM punctual_batch
WHERE batch_no = ANY (%(numbers)s::uuid[]) AND finished_at IS NOT NULL AND NOT reaped
UNION ALL
SELECT batch_no FROM punctual_past_batch
WHERE batch_no = ANY (%(numbers)s::uuid[]) AND finished_at >= %(since)s AND NOT reaped
