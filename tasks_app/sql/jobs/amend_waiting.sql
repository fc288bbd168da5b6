-- amend_waiting: the instances of a job that wait for their parents get what an edit has changed. Those that have been
-- released keep what they have: a claim may be under way. So do those that wait for their turn: somebody triggered them so.
UPDATE punctual_task t
SET task_type = j.task_type, payload = j.payload, lane = j.lane, max_retry = j.max_retry, expires_after = j.expires_after,
    shard = coalesce(%(home)s::smallint, j.shard), limited = %(home)s::smallint IS NOT NULL, updated_at = clock_timestamp()
FROM punctual_job j, (
    SELECT id FROM punctual_task b
    WHERE job = %(job)s AND status = 'BLOCKED' AND EXISTS (SELECT FROM punctual_wait w WHERE w.task = b.id)
    ORDER BY id FOR NO KEY UPDATE
) AS mine
WHERE j.id = %(job)s AND t.id = mine.id AND t.status = 'BLOCKED'
