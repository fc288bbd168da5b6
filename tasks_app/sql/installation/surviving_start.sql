-- surviving_start: this batch, if it is known on this server that a worker has started it.
SELECT batch_no FROM punctual_batch
WHERE batch_no = %(number)s AND started_at IS NOT NULL
UNION ALL
SELECT batch_no FROM punctual_past_batch
WHERE batch_no = %(number)s AND finished_at >= %(since)s AND started_at IS NOT NULL
