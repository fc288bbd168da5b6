-- insert_again: new rows that take over from retired ones of a run, as insert_replacements makes them: due now, or BLOCKED, and
-- then waiting for the current rows of their parents. Whoever waits for a retired row waits for the new one.
WITH created AS (
    INSERT INTO punctual_task (tenant, task_type, biz_key, replaces, idem_key, token, job, fire_time, status, execute_time,
                               due_at, allowed_at, lane, shard, limited, max_retry, expires_after, payload,
                               payload_bytes)
    SELECT old.tenant, old.task_type, old.biz_key, old.id, u.idem_key,
           CASE WHEN u.hand_on THEN old.token ELSE gen_random_uuid() END, old.job, old.fire_time,
           CASE WHEN u.waits THEN 'BLOCKED' ELSE 'INIT' END, clock.now, CASE WHEN NOT u.waits THEN clock.now END, NULL,
           old.lane, old.shard, old.limited, old.max_retry, old.expires_after, old.payload,
           old.payload_bytes
    FROM (SELECT clock_timestamp() AS now) AS clock,
         unnest(%(ids)s::bigint[], %(idem_keys)s::text[], %(hand_on)s::bool[], %(waits)s::bool[])
         AS u(id, idem_key, hand_on, waits)
    JOIN punctual_task old ON old.id = u.id
    ORDER BY old.tenant, old.task_type, old.biz_key
    ON CONFLICT DO NOTHING
    RETURNING tenant, task_type, biz_key, id, execute_time, replaces, job, fire_time, idem_key, status
), waited_for AS (
    UPDATE punctual_wait w SET parent = k.id, ended = NULL
    FROM (SELECT c.id, one.spot FROM created c CROSS JOIN LATERAL (
              SELECT ctid AS spot FROM punctual_wait WHERE parent = c.replaces ORDER BY task LIMIT 100000 FOR UPDATE
          ) AS one) AS k
    WHERE w.ctid = k.spot
), news AS NOT MATERIALIZED (
    SELECT 'task.created' AS event, c.id, c.tenant, c.task_type, c.biz_key AS key, c.job, c.fire_time, c.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, c.status AS state,
           jsonb_build_object('at', c.execute_time, 'replaces', c.replaces) AS data, TRUE AS with_data
    FROM created c
),
--include tell
SELECT job, id FROM created
