-- surviving_batches: which of these batches are settled on this server, too. One that was reaped here was lost here, and so was
-- one that nobody had started here and a beat has given back.
SELECT batch_no FROM punctual_batch
WHERE batch_no = ANY (%(numbers)s::uuid[]) AND finished_at IS NOT NULL AND started_at IS NOT NULL AND NOT reaped
UNION ALL
SELECT batch_no FROM punctual_past_batch
WHERE batch_no = ANY (%(numbers)s::uuid[]) AND finished_at >= %(since)s AND started_at IS NOT NULL AND NOT reaped
