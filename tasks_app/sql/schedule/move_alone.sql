-- move_alone: reschedule of one unit, if nobody runs its current row and that waits for nobody: locked and moved at once. Same
-- row, new time; counts and payload stay. Nothing comes back in any other case: the caller looks at what is there then.
-- `was` is the row as it is under the lock, which may be later than what this statement saw when it began.
WITH was AS MATERIALIZED (
    SELECT t.id, t.due_at
    FROM punctual_task t
    WHERE t.biz_key = %(key)s AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
      AND (t.status IN ('INIT', 'FAIL') OR (t.status = 'SUCCESS' AND t.due_at IS NOT NULL))
    FOR UPDATE
), moved AS (
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
), news AS NOT MATERIALIZED (
    SELECT 'task.updated' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, m.status AS state,
           jsonb_build_object('old', was.due_at, 'new', m.due_at) AS data, TRUE AS with_data
    FROM moved m JOIN was ON was.id = m.id
),
--include tell
SELECT id, date_part('epoch', due_at) FROM moved
