-- start: the first delivery of a batch takes it and sets the run lease; any other finds nothing. Plan: docs/kernel.md#start
-- A worker that got no answer asks `again`, with the ticket of that delivery. Paused lanes, quarantine and standby refuse.
-- The first row is the batch, the others its tasks that are still RUNNING under it, in any order.
-- Times are seconds since the epoch, and NULL where they equal the due time: the worker reads fewer bytes.
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
    -- claim puts the id that was due first in front. All rows are read only if that one is late, or no longer in the batch.
    SELECT t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.attempt, b.batch_no, b.worker, b.started_at,
           greatest(t.claimed_due, t.allowed_at, b.allowed_at) AS possible
    FROM b JOIN punctual_task t ON t.id = ANY (b.ids) AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    WHERE 'task.late' = ANY (%(kept)s::text[])
      -- An event is written once: the batch is locked, so this reads what the first request did.
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
rare AS (
    SELECT bool_or(job IS NOT NULL) AS job, bool_or(idem_key IS NOT NULL) AS idem_key FROM news
), emitted AS (
    INSERT INTO punctual_outbox (tenant, event, task_type, worker, batch_no, count, task_ids, keys, jobs, fire_times,
                                 idem_keys, attempts, states, payloads)
    SELECT n.tenant, n.event, n.task_type, n.worker, n.batch_no, count(*), array_agg(n.id), array_agg(n.key),
           array_agg(n.job) FILTER (WHERE (SELECT job FROM rare)),
           array_agg(n.fire_time) FILTER (WHERE (SELECT job FROM rare)),
           array_agg(n.idem_key) FILTER (WHERE (SELECT idem_key FROM rare)),
           array_agg(n.attempt) FILTER (WHERE n.attempt IS NOT NULL),
           array_agg(n.state) FILTER (WHERE n.state IS NOT NULL),
           jsonb_agg(n.data) FILTER (WHERE n.with_data)
    FROM news n
    WHERE n.event = ANY (%(kept)s::text[])
    GROUP BY n.tenant, n.event, n.task_type, n.worker, n.batch_no
)
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
