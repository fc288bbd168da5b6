-- A new INIT row for each in `heir` that takes over from it, with its settings and a fresh budget.
-- `solo` is copied: a task that may be poisonous does not become harmless by being moved.
-- The token is handed on unless the old row had succeeded: then this is a new intent.
    INSERT INTO punctual_task (tenant, task_type, biz_key, replaces, idem_key, token, job, fire_time, status, execute_time,
                               due_at, allowed_at, lane, shard, limited, solo, max_retry, repeat_after, expires_after, payload,
                               payload_bytes, deferred_from, retry_for)
    SELECT old.tenant, old.task_type, old.biz_key, old.id, h.idem_key,
           CASE WHEN h.hand_on THEN old.token ELSE gen_random_uuid() END, old.job, old.fire_time, 'INIT', h.run_at,
           h.run_at, CASE WHEN h.run_at < h.now THEN h.now END, old.lane, old.shard, old.limited, old.solo, old.max_retry,
           old.repeat_after, old.expires_after, coalesce(h.payload::jsonb, old.payload),
           CASE WHEN h.payload IS NULL THEN old.payload_bytes ELSE h.payload_bytes END, old.deferred_from, old.retry_for
    FROM heir h
    JOIN punctual_task old ON old.id = h.id
