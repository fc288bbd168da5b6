-- start: the first delivery of a batch takes it and sets the run lease; every later one finds nothing.
-- Except for whoever started it and got no answer: it asks `again`, with the ticket that it made up for this one delivery. Another
-- worker has another ticket, and so has another delivery to the same worker: there, handlers may have been called already.
-- A first question that arrives late finds nothing either, whatever ticket it has.
-- A batch of a lane that was paused meanwhile can't be started; the caller gives it back. In quarantine none can, nor in a
-- rehearsal, nor by a worker of a site that is not the active one. What it had started before, it may ask for again.
-- Only rows still RUNNING under this very batch come along: one cancelled or rescheduled meanwhile is left out.
-- Times come as seconds since the epoch: a thousand timestamps cost the worker ten times as much to read. When it was asked for and
-- from when on it is late are empty if that is when it was due as it was claimed, as mostly: to tell each takes 0.15 µs.
-- The first row is the batch, and the only one if nothing is left of it: then the caller can finish it. What all tasks would
-- repeat is told there, once, in the columns of the tasks: one more would be read for each of them. The tasks come in any order:
-- the caller sorts its list of them, by the first two columns.
-- Each row says when it was due as it was claimed, and the first one when this began: what was claimed ahead of its time and
-- was not due yet, the caller waits for, and looks at again (see ready). now() is before what is read here was, so that what is
-- done to a row until it is due is seen by one of the two.
-- Each row says whether a quota or a safeguard bounds what its tenant may run: then the caller counts. And whether its tenant is
-- suspended: the caller puts those tasks aside, which are not late. Both are empty if that holds for no tenant.
-- The first row says in that place whether something of the type has failed lately: then successes are noted, too.
WITH b AS (
    UPDATE punctual_batch
    SET started_at = clock_timestamp(), worker = %(worker)s, ticket = %(ticket)s,
        lease_until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE batch_no = %(batch_no)s AND finished_at IS NULL
      AND CASE WHEN started_at IS NULL THEN NOT EXISTS (SELECT FROM punctual_lane_pause p WHERE p.lane = punctual_batch.lane)
                                             AND NOT EXISTS (SELECT FROM punctual_installation i
                                                             WHERE i.state <> 'ACTIVE' OR i.site IS DISTINCT FROM %(site)s)
               ELSE %(again)s::bool AND ticket = %(ticket)s END
    RETURNING batch_no, task_type, lane, ids, claimed_at, started_at, allowed_at, worker
), stopped AS MATERIALIZED (
    SELECT array_agg(s.name::text) AS tenants FROM punctual_tenant s WHERE s.state = 'SUSPENDED'
), bounded AS MATERIALIZED (
    SELECT array_agg(one.name) AS tenants
    FROM (
        SELECT s.name::text FROM punctual_tenant s WHERE s.max_running IS NOT NULL
        UNION ALL
        SELECT c.of_tenant::text FROM b JOIN punctual_curb c ON c.target IN (b.task_type, '*')
        WHERE c.of_tenant <> '' AND c.kind IN ('type', 'retries')
    ) AS one
), late AS (
    -- The first of the ids was due first, as claim has put them. Only if that is late, or not ours any more, are they all
    -- looked at: most batches are not.
    SELECT t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.attempt, b.batch_no, b.worker, b.started_at,
           greatest(t.claimed_due, t.allowed_at, b.allowed_at) AS possible
    FROM b JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    WHERE 'task.late' = ANY (%(kept)s::text[])
      -- What is asked again is told once. Whoever asks again has locked the batch, so this is what became of the first time.
      AND (NOT %(again)s::bool OR (SELECT p.started_at IS NULL FROM punctual_batch p WHERE p.batch_no = %(batch_no)s))
      AND coalesce((SELECT f.claimed_due FROM b JOIN punctual_task f ON f.id = b.ids[1] AND f.batch_no = b.batch_no), '-infinity')
          < (SELECT b.started_at - make_interval(secs => %(late)s) FROM b)
      AND greatest(t.claimed_due, t.allowed_at, b.allowed_at) < b.started_at - make_interval(secs => %(late)s)
      AND coalesce(t.tenant <> ALL ((SELECT s.tenants FROM stopped s)::text[]), TRUE)
), news AS NOT MATERIALIZED (
    SELECT 'task.late' AS event, l.id, l.tenant, l.task_type, l.biz_key AS key, l.job, l.fire_time, l.idem_key, l.worker,
           l.batch_no, l.attempt + 1 AS attempt, NULL::text AS state,
           jsonb_build_object('due', l.possible, 'late_seconds', extract(epoch FROM l.started_at - l.possible)) AS data,
           TRUE AS with_data
    FROM late l
),
--include tell
SELECT date_part('epoch', greatest(b.claimed_at, now())), NULL::bigint, b.task_type, b.lane, NULL::int,
       date_part('epoch', b.started_at), NULL::float8, NULL::float8, NULL::bytea, NULL::text, NULL::bytea, NULL::bigint,
       NULL::float8, EXISTS (SELECT FROM punctual_scope_minute m WHERE m.target = b.task_type), NULL::bool
FROM b
UNION ALL
SELECT date_part('epoch', t.claimed_due), t.id, t.tenant, t.biz_key, t.attempt, date_part('epoch', nullif(t.execute_time, t.claimed_due)),
       date_part('epoch', nullif(greatest(t.claimed_due, t.allowed_at, b.allowed_at), t.claimed_due)),
       date_part('epoch', t.execute_time + t.expires_after), uuid_send(t.token), t.payload::text, t.payload_bytes,
       t.job, date_part('epoch', t.fire_time),
       t.tenant = ANY ((SELECT s.tenants FROM bounded s)::text[]), t.tenant = ANY ((SELECT s.tenants FROM stopped s)::text[])
FROM b
JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
