-- start: the first delivery of a batch takes it and sets the run lease; every later one finds nothing.
-- A batch of a lane that was paused meanwhile can't be started; the caller gives it back.
-- Only rows still RUNNING under this very batch come along: one cancelled or re-planned meanwhile is left out.
-- Times come as seconds since the epoch: a thousand timestamps cost the worker ten times as much to read.
-- A batch of which nothing is left returns one row with an empty id, so that the caller can finish it.
WITH b AS (
    UPDATE task_batch
    SET started_at = clock_timestamp(), worker = %(worker)s,
        lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE batch_no = %(batch_no)s AND started_at IS NULL AND finished_at IS NULL
      AND NOT EXISTS (SELECT FROM lane_pause p WHERE p.lane = task_batch.lane)
    RETURNING batch_no, task_type, lane, ids, started_at, allowed_at
)
SELECT b.task_type, b.lane, date_part('epoch', b.started_at), t.id, t.tenant, t.biz_key, t.attempt,
       date_part('epoch', t.execute_time), date_part('epoch', greatest(t.claimed_due, t.allowed_at, b.allowed_at)),
       date_part('epoch', t.execute_time + t.expires_after), t.token::text, t.payload::text, t.job
FROM b
LEFT JOIN schedule_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
ORDER BY t.claimed_due, t.id
