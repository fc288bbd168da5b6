-- The row in `was`, which is locked, gets its new time. Same row; counts and payload stay.
moved AS (
    UPDATE punctual_task t
    SET execute_time = u.run_at, due_at = u.run_at, allowed_at = CASE WHEN u.run_at < u.now THEN u.now END,
        updated_at = clock_timestamp()
    FROM (
        SELECT was.id, clock.now, coalesce(%(at)s::timestamptz, clock.now + make_interval(secs => %(delay)s)) AS run_at
        FROM was, (SELECT clock_timestamp() AS now) AS clock
    ) AS u
    WHERE t.id = u.id AND t.current
      AND (t.status IN ('INIT', 'FAIL') OR (t.status = 'SUCCESS' AND t.due_at IS NOT NULL))
    RETURNING t.tenant, t.task_type, t.biz_key, t.id, t.due_at, t.status, t.job, t.fire_time, t.idem_key
)
