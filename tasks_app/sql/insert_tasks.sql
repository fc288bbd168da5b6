-- insert_tasks: new rows, INIT and due at their time. A unit or idem_key that is taken is left out, not an
-- error: a violation would end the caller's transaction. Rows go in by unit, so that two callers can't deadlock.
-- `solo` comes from the row it takes over from: a task that may be poisonous stays alone until it has an outcome.
INSERT INTO schedule_task (tenant, task_type, biz_key, replaces, idem_key, status, execute_time, due_at, lane, shard,
                           solo, max_retry, repeat_after, expires_after, payload)
SELECT u.tenant, u.task_type, u.biz_key, u.replaces, u.idem_key, 'INIT', u.run_at, u.run_at, u.lane, u.shard,
       CASE WHEN u.replaces IS NULL THEN FALSE ELSE (SELECT old.solo FROM schedule_task old WHERE old.id = u.replaces) END,
       u.max_retry, make_interval(secs => u.repeat_after), make_interval(secs => u.expires_after), u.payload::jsonb
FROM (
    SELECT given.*, coalesce(given.at, (SELECT clock_timestamp()) + make_interval(secs => given.delay)) AS run_at
    FROM unnest(%(tenants)s::text[], %(types)s::text[], %(keys)s::text[], %(replaces)s::bigint[],
                %(idem_keys)s::text[], %(ats)s::timestamptz[], %(delays)s::float8[], %(lanes)s::text[],
                %(shards)s::smallint[], %(max_retries)s::smallint[], %(repeat_afters)s::float8[],
                %(expires_afters)s::float8[], %(payloads)s::text[])
         AS given(tenant, task_type, biz_key, replaces, idem_key, at, delay, lane, shard, max_retry, repeat_after,
                  expires_after, payload)
) AS u
ORDER BY u.tenant, u.task_type, u.biz_key
ON CONFLICT DO NOTHING
RETURNING tenant, task_type, biz_key, id, extract(epoch FROM due_at)::float8
