-- ran_since: the batches that ended after a moment, or are running; for whoever restored to that moment.
(SELECT b.batch_no, b.task_type, b.lane, b.worker, b.started_at, b.finished_at, b.ids
 FROM punctual_any_batch b
 WHERE b.finished_at >= %(since)s::timestamptz AND b.started_at IS NOT NULL
 ORDER BY b.finished_at LIMIT %(most)s::int8)
UNION ALL
(SELECT b.batch_no, b.task_type, b.lane, b.worker, b.started_at, b.finished_at, b.ids
 FROM punctual_batch b
 WHERE b.finished_at IS NULL AND b.started_at IS NOT NULL
 LIMIT %(most)s::int8)
