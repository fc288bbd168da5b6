-- canary_returns: when the canaries of a time came back, by lane: a canary is a batch of its own.
SELECT lane, finished_at FROM punctual_any_batch
WHERE finished_at >= %(since)s AND finished_at < %(until)s AND task_type = %(type)s AND ok > 0
ORDER BY lane, finished_at
