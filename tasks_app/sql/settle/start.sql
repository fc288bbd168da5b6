-- start: the first delivery of a batch takes it and sets the run lease; every later one finds nothing.
-- Except for whoever started it and got no answer: it asks `again`, with the ticket that it made up for this one delivery. Another
-- worker has another ticket, and so has another delivery to the same worker: there, handlers may have been called already.
-- A first question that arrives late finds nothing either, whatever ticket it has.
-- A batch of a lane that was paused meanwhile can't be started; the caller gives it back.
-- Only rows still RUNNING under this very batch come along: one cancelled or rescheduled meanwhile is left out.
-- Times come as seconds since the epoch: a thousand timestamps cost the worker ten times as much to read.
-- A batch of which nothing is left returns one row with an empty id, so that the caller can finish it.
WITH b AS (
    UPDATE punctual_batch
    SET started_at = clock_timestamp(), worker = %(worker)s, ticket = %(ticket)s,
        lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
      AND CASE WHEN started_at IS NULL THEN NOT EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = punctual_batch.lane)
               ELSE %(again)s::bool AND ticket = %(ticket)s END
    RETURNING batch_no, task_type, lane, ids, started_at, allowed_at
)
SELECT b.task_type, b.lane, date_part('epoch', b.started_at), t.id, t.tenant, t.biz_key, t.attempt,
       date_part('epoch', t.execute_time), date_part('epoch', greatest(t.claimed_due, t.allowed_at, b.allowed_at)),
       date_part('epoch', t.execute_time + t.expires_after), t.token::text, t.payload::text, t.job
FROM b
LEFT JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
ORDER BY t.claimed_due, t.id
