-- insert_replacements: a new INIT row that takes over from a retired one.
-- What ran until now is `task.replaced`; what was over, and gets a successor, `task.created`.
-- One with a payload larger than its tenant may have is left out, and one in the clear of a tenant that asks for encryption:
-- the caller finds out why, and has looked at how large an encrypted one was. So is all of a tenant that is archived.
WITH heir AS (
    SELECT given.*, clock.now, coalesce(given.at, clock.now + make_interval(secs => given.delay)) AS run_at
    FROM (SELECT clock_timestamp() AS now) AS clock,
         unnest(%(ids)s::bigint[], %(ats)s::timestamptz[], %(delays)s::float8[], %(payloads)s::text[],
                %(payload_bytes)s::bytea[], %(idem_keys)s::text[], %(hand_on)s::bool[])
         AS given(id, at, delay, payload, payload_bytes, idem_key, hand_on)
), created AS (
--include successors
    WHERE (h.payload IS NULL OR h.payload::jsonb ? '$punctual' OR NOT EXISTS (
        SELECT FROM punctual_tenant q
        WHERE q.name = old.tenant AND (q.encrypted OR q.max_payload_bytes < octet_length(h.payload))))
      AND old.tenant <> ALL (ARRAY(SELECT q.name FROM punctual_tenant q WHERE q.closed))
    ORDER BY old.tenant, old.task_type, old.biz_key
    ON CONFLICT DO NOTHING
    RETURNING tenant, task_type, biz_key, id, due_at, replaces, job, fire_time, idem_key
), waited_for AS (
    -- Whoever waits for the unit waits for the row that stands for it. Only instances of jobs are waited for.
    UPDATE punctual_wait w SET parent = k.id, ended = NULL
    FROM (SELECT c.id, one.spot FROM created c CROSS JOIN LATERAL (
              SELECT ctid AS spot FROM punctual_wait WHERE parent = c.replaces ORDER BY task LIMIT 100000 FOR UPDATE
          ) AS one WHERE c.job IS NOT NULL) AS k
    WHERE w.ctid = k.spot
), news AS NOT MATERIALIZED (
    SELECT %(event)s::text AS event, c.id, c.tenant, c.task_type, c.biz_key AS key, c.job, c.fire_time, c.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           CASE %(event)s::text
               WHEN 'task.created' THEN jsonb_build_object('at', c.due_at, 'replaces', c.replaces)
               ELSE jsonb_build_object('replaces', c.replaces, 'new', c.due_at, 'old', (
                   SELECT old.execute_time FROM punctual_task old WHERE old.id = c.replaces)) END AS data, TRUE AS with_data
    FROM created c
),
--include tell
SELECT tenant, task_type, biz_key, id, date_part('epoch', due_at), replaces, job FROM created
