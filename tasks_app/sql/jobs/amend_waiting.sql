-- amend_waiting: the instances of a job that wait for their parents get what an edit has changed. Those that have been
-- released keep what they have: a claim may be under way. So do those that wait for their turn: somebody triggered them so.
-- In a run that a backfill has made they keep their lane, and don't expire: their time has passed long ago.
UPDATE punctual_task t
SET task_type = j.task_type, payload = j.payload, payload_bytes = NULL, max_retry = j.max_retry, updated_at = clock_timestamp(),
    lane = CASE WHEN mine.made THEN t.lane ELSE j.lane END,
    expires_after = CASE WHEN mine.made THEN t.expires_after ELSE j.expires_after END,
    shard = coalesce(%(home)s::smallint, j.shard), limited = %(home)s::smallint IS NOT NULL
FROM punctual_job j, (
    SELECT b.id, EXISTS (
        SELECT FROM punctual_run r
        WHERE r.label = substr(b.biz_key, length(b.job::text) + 2) AND r.backfill
          AND r.nodes @> jsonb_build_array(jsonb_build_array(b.job))
    ) AS made
    FROM punctual_task b
    WHERE b.job = %(job)s AND b.status = 'BLOCKED' AND EXISTS (SELECT FROM punctual_wait w WHERE w.task = b.id)
    ORDER BY b.id FOR NO KEY UPDATE OF b
) AS mine
WHERE j.id = %(job)s AND t.id = mine.id AND t.status = 'BLOCKED'
