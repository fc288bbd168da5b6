-- The row in `u` is retired, and one that takes over from it is in `moved`: both, or neither. Nobody has written to it since it was
-- seen, by a statement before this one: so this one sees all that was written with it, the lease of a run that is away or a dead
-- letter. An instance of a job is left out: others may wait for it.
--include retired
      AND t.xmin = %(old_version)s::xid AND t.job IS NULL
      AND NOT EXISTS (SELECT FROM punctual_tenant q WHERE q.name = t.tenant AND q.closed)
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.execute_time, t.error_code, t.error_msg, u.status AS was, u.hand_on
),
--include retired_from
, heir AS (
    SELECT r.id, r.hand_on, %(idem_key)s::text AS idem_key, NULL::text AS payload, NULL::bytea AS payload_bytes, clock.now,
           coalesce(%(at)s::timestamptz, clock.now + make_interval(secs => %(delay)s)) AS run_at
    FROM retired r, (SELECT clock_timestamp() AS now) AS clock
), moved AS (
--include successors
    RETURNING tenant, task_type, biz_key, id, due_at, status, job, fire_time, idem_key
)
