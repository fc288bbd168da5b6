-- keep_logs: the last lines of these tries of a batch, in place of those that were written of them before.
-- Whether the batch is still ours is not asked: what a try has logged is true, even if nothing else of it counts.
-- Two threads of a worker may write about one try; of the two, the one that knows of more lines is right.
INSERT INTO punctual_log AS l (task_id, attempt, batch_no, worker, started_at, dropped, lines)
SELECT given.id, given.attempt, b.batch_no, b.worker, b.started_at, given.dropped, given.lines
FROM punctual_batch b
CROSS JOIN jsonb_to_recordset(%(given)s::jsonb) AS given(id bigint, attempt int, dropped int, lines jsonb)
WHERE b.batch_no = %(batch_no)s AND b.started_at IS NOT NULL
ORDER BY given.id
ON CONFLICT (task_id, batch_no, started_at) DO UPDATE SET dropped = excluded.dropped, lines = excluded.lines
WHERE l.dropped + jsonb_array_length(l.lines) < excluded.dropped + jsonb_array_length(excluded.lines)
RETURNING task_id
