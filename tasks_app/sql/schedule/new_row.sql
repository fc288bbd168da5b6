-- What insert_tasks writes for a single task of a tenant that is bound by nothing that counts there, as most are. Another gets
-- no row: then the caller goes the long way.
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, entry_at, allowed_at, lane, shard,
                           limited, solo,
                           max_retry, repeat_after, expires_after, token, payload)
SELECT %(tenant)s::text, %(task_type)s, %(biz_key)s, 'INIT', u.run_at, u.run_at,
       CASE WHEN u.run_at >= u.now AND NOT %(limited)s::bool AND %(repeat_after)s::float8 IS NULL THEN u.run_at END,
       CASE WHEN u.run_at < u.now THEN u.now END,
       %(lane)s, %(shard)s, %(limited)s, FALSE, %(max_retry)s, make_interval(secs => %(repeat_after)s::float8),
       make_interval(secs => %(expires_after)s::float8), %(token)s::uuid, %(payload)s::text::jsonb
FROM (SELECT coalesce(%(at)s::timestamptz, clock.now + make_interval(secs => %(delay)s::float8)) AS run_at, clock.now
      FROM
--include writers_clock
     ) AS u
--include unless_bound
