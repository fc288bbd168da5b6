-- What new_row writes, for many tasks that differ in key, shard, token and, if arrays for them are given, time and payload.
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, entry_at, allowed_at, lane, shard,
                           limited, solo,
                           max_retry, repeat_after, expires_after, token, payload)
SELECT %(tenant)s::text, %(task_type)s, u.biz_key, 'INIT', u.run_at, u.run_at,
       CASE WHEN u.run_at >= u.now AND NOT %(limited)s::bool AND %(repeat_after)s::float8 IS NULL THEN u.run_at END,
       CASE WHEN u.run_at < u.now THEN u.now END,
       %(lane)s, u.shard, %(limited)s, FALSE, %(max_retry)s, make_interval(secs => %(repeat_after)s::float8),
       make_interval(secs => %(expires_after)s::float8), u.token, coalesce(u.payload, %(payload)s::text)::jsonb
FROM (SELECT given.*, clock.now,
             coalesce(given.at, %(at)s::timestamptz, clock.now + make_interval(secs => %(delay)s::float8)) AS run_at
      FROM
--include writers_clock
           ,
           unnest(%(biz_keys)s::text[], %(shards)s::smallint[], %(tokens)s::uuid[], %(ats)s::timestamptz[],
                  %(payloads)s::text[]) AS given(biz_key, shard, token, at, payload)) AS u
--include unless_bound
