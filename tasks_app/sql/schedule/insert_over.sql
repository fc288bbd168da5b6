-- insert_over: insert_task for a unit whose current row is over: that makes room, if nobody has written to it since it was seen, by a
-- statement before this one. No row for a tenant that is bound by something that counts: then the caller goes the long way.
WITH u AS (
    SELECT %(old)s::bigint AS id, %(old_status)s::text AS status, FALSE AS hand_on
),
--include retired
      AND t.xmin = %(old_version)s::xid AND t.status NOT IN ('RUNNING', 'AWAY') AND
--include unbound
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.solo, t.execute_time, t.error_code, t.error_msg, u.status AS was
),
--include retired_from
, moved AS (
    INSERT INTO punctual_task (tenant, task_type, biz_key, replaces, status, execute_time, due_at, allowed_at, lane, shard,
                               limited, solo, max_retry, repeat_after, expires_after, token, payload)
    SELECT r.tenant, r.task_type, r.biz_key, r.id, 'INIT', n.run_at, n.run_at, CASE WHEN n.run_at < n.now THEN n.now END,
           %(lane)s, %(shard)s, %(limited)s, r.solo, %(max_retry)s, make_interval(secs => %(repeat_after)s::float8),
           make_interval(secs => %(expires_after)s::float8), %(token)s::uuid, %(payload)s::text::jsonb
    FROM retired r,
         (SELECT coalesce(%(at)s::timestamptz, clock.now + make_interval(secs => %(delay)s::float8)) AS run_at, clock.now
          FROM (SELECT clock_timestamp() AS now) AS clock) AS n
    RETURNING tenant, task_type, biz_key, id, due_at, idem_key
), told AS (
--include tell_replaced
)
SELECT coalesce(moved.id, ('task ' || retired.id || ' has no successor')::bigint), date_part('epoch', moved.due_at)
FROM retired LEFT JOIN moved ON TRUE
