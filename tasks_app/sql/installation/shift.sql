-- shift: tasks that are overdue -> later, in the same order: as far after `at` as they were due after `since`, times a factor.
-- What a person asked for moves along, and with it what is counted from there: when it expires, until when it is retried.
-- The caller has locked them. Settled, cancelled or moved meanwhile, they are not overdue, and stay.
WITH moved AS (
    UPDATE punctual_task t
    SET due_at = later.at, execute_time = t.execute_time + (later.at - t.due_at), allowed_at = NULL,
        updated_at = clock_timestamp()
    FROM unnest(%(ids)s::bigint[]) AS given(id)
    JOIN punctual_task was ON was.id = given.id
    CROSS JOIN LATERAL (
        SELECT %(at)s::timestamptz + greatest(was.due_at - %(since)s::timestamptz, interval '0') * %(factor)s::float8 AS at
    ) AS later
    WHERE t.id = given.id AND t.current AND t.due_at = was.due_at AND t.due_at < %(at)s::timestamptz
      AND t.status IN ('INIT', 'FAIL', 'SUCCESS')
    RETURNING t.tenant, t.task_type, t.biz_key, t.id, t.due_at, t.status, t.job, t.fire_time, t.idem_key, was.due_at AS was_due
), news AS NOT MATERIALIZED (
    SELECT 'task.updated' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, m.status AS state,
           jsonb_build_object('old', m.was_due, 'new', m.due_at) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id FROM moved
