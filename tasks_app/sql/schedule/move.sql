-- move: reschedule of rows that nobody runs. Same row, new time; counts stay. BLOCKED still waits for its parents.
-- The caller has locked them, so what this statement saw when it began is what they were.
-- One with a payload larger than its tenant may have is left out, and one in the clear of a tenant that asks for encryption:
-- the caller finds out why, and has looked at how large an encrypted one was.
WITH moved AS (
    UPDATE punctual_task t
    SET execute_time = u.run_at, due_at = CASE WHEN t.status = 'BLOCKED' THEN NULL ELSE u.run_at END,
        allowed_at = CASE WHEN u.run_at < u.now THEN u.now END,
        payload = coalesce(u.payload::jsonb, t.payload),
        payload_bytes = CASE WHEN u.payload IS NULL THEN t.payload_bytes ELSE u.payload_bytes END, updated_at = clock_timestamp()
    FROM (
        SELECT given.*, clock.now, coalesce(given.at, clock.now + make_interval(secs => given.delay)) AS run_at
        FROM (SELECT clock_timestamp() AS now) AS clock,
             unnest(%(ids)s::bigint[], %(ats)s::timestamptz[], %(delays)s::float8[], %(payloads)s::text[],
                    %(payload_bytes)s::bytea[])
             AS given(id, at, delay, payload, payload_bytes)
    ) AS u
    WHERE t.id = u.id AND t.current
      AND (t.status IN ('INIT', 'FAIL', 'BLOCKED') OR (t.status = 'SUCCESS' AND t.due_at IS NOT NULL))
      AND (u.payload IS NULL OR u.payload::jsonb ? '$punctual' OR NOT EXISTS (
          SELECT FROM punctual_tenant q
          WHERE q.name = t.tenant AND (q.encrypted OR q.max_payload_bytes < octet_length(u.payload))))
    RETURNING t.tenant, t.task_type, t.biz_key, t.id, t.due_at, t.execute_time, t.status, t.job, t.fire_time, t.idem_key
), news AS NOT MATERIALIZED (
    SELECT 'task.updated' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, m.status AS state,
           jsonb_build_object('old', (SELECT coalesce(old.due_at, old.execute_time) FROM punctual_task old WHERE old.id = m.id),
                              'new', coalesce(m.due_at, m.execute_time)) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT tenant, task_type, biz_key, id, date_part('epoch', due_at) FROM moved
