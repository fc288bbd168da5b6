-- A column that is the same for all comes once, as `all_…`, with an empty array: most of a big insert is like that.
-- `solo` comes from the row it takes over from: a task that may be poisonous stays alone until it has an outcome.
-- A tenant that may have no more of it gets nothing, and one with a quota for payloads nothing larger: the caller finds out why.
-- `unbound`: what has to be written whatever the quotas say. A tenant that asks for encryption gets nothing in the clear; how
-- large an encrypted payload was, the caller has looked at. One that is archived gets nothing but what its last runs leave behind.
-- Nor does one that has made more tasks of late than it may in that time, as far as they are committed.
-- What is scheduled for the past is late from now on, and due as asked: that is its place in the line.
INSERT INTO punctual_task (tenant, task_type, biz_key, replaces, idem_key, status, execute_time, due_at, entry_at,
                           allowed_at, lane, shard, limited, solo, max_retry, repeat_after, expires_after, token, payload,
                           payload_bytes)
SELECT u.tenant, u.task_type, u.biz_key, u.replaces, u.idem_key, 'INIT', u.run_at, u.run_at,
       CASE WHEN u.run_at >= u.now AND NOT u.limited AND u.repeat_after IS NULL THEN u.run_at END,
       CASE WHEN u.run_at < u.now THEN u.now END, u.lane, u.shard,
       u.limited,
       CASE WHEN u.replaces IS NULL THEN FALSE ELSE (SELECT old.solo FROM punctual_task old WHERE old.id = u.replaces) END,
       u.max_retry, make_interval(secs => u.repeat_after), make_interval(secs => u.expires_after), u.token, u.payload,
       u.payload_bytes
FROM (
    SELECT coalesce(given.tenant, %(all_tenant)s) AS tenant, coalesce(given.task_type, %(all_task_type)s) AS task_type,
           given.biz_key, coalesce(given.replaces, %(all_replaces)s::bigint) AS replaces,
           coalesce(given.idem_key, %(all_idem_key)s) AS idem_key,
           coalesce(given.at, %(all_at)s::timestamptz,
                    clock.now + make_interval(secs => coalesce(given.delay, %(all_delay)s::float8))) AS run_at,
           coalesce(given.lane, %(all_lane)s) AS lane, given.shard,
           coalesce(given.limited, %(all_limited)s::bool) AS limited,
           coalesce(given.max_retry, %(all_max_retry)s::smallint) AS max_retry,
           coalesce(given.repeat_after, %(all_repeat_after)s::float8) AS repeat_after,
           coalesce(given.expires_after, %(all_expires_after)s::float8) AS expires_after,
           clock.now, given.token, coalesce(given.payload::jsonb, %(all_payload)s::text::jsonb) AS payload,
           coalesce(given.payload, %(all_payload)s::text) AS payload_text,
           given.payload_bytes
    FROM
--include writers_clock
         ,
         unnest(%(tenant)s::text[], %(task_type)s::text[], %(biz_key)s::text[], %(replaces)s::bigint[],
                %(idem_key)s::text[], %(at)s::timestamptz[], %(delay)s::float8[], %(lane)s::text[],
                %(shard)s::smallint[], %(limited)s::bool[], %(max_retry)s::smallint[], %(repeat_after)s::float8[],
                %(expires_after)s::float8[], %(token)s::uuid[], %(payload)s::text[],
                %(payload_bytes)s::bytea[])
         AS given(tenant, task_type, biz_key, replaces, idem_key, at, delay, lane, shard, limited, max_retry, repeat_after,
                  expires_after, token, payload, payload_bytes)
) AS u
WHERE (u.tenant <> ALL (ARRAY(SELECT q.name FROM punctual_tenant q
                              WHERE (q.at_limit OR q.max_payload_bytes IS NOT NULL OR q.encrypted OR q.closed)
                                AND (q.name = %(all_tenant)s OR q.name = ANY (%(tenant)s::text[]))))
   OR EXISTS (SELECT FROM punctual_tenant q
              WHERE q.name = u.tenant AND (NOT q.encrypted OR u.payload ? '$punctual')
                AND (%(unbound)s::bool
                     OR NOT q.at_limit AND NOT q.closed AND (q.max_payload_bytes IS NULL OR u.payload ? '$punctual'
                                            OR octet_length(u.payload_text) <= q.max_payload_bytes))))
  AND (%(unbound)s::bool
       OR u.tenant <> ALL (ARRAY(SELECT q.name FROM punctual_tenant q
                                 WHERE q.schedules_per_second IS NOT NULL
                                   AND (q.name = %(all_tenant)s OR q.name = ANY (%(tenant)s::text[]))
                                   AND (SELECT coalesce(sum(c.tasks), 0) FROM punctual_schedule_count c
                                        WHERE c.tenant = q.name
                                          AND c.at > (SELECT clock_timestamp() - make_interval(secs => %(window)s)))
                                       + CASE WHEN q.name = %(all_tenant)s THEN cardinality(%(biz_key)s::text[])
                                              ELSE cardinality(array_positions(%(tenant)s::text[], q.name::text)) END
                                       > q.schedules_per_second * %(window)s)))
