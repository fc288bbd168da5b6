), news AS (
    SELECT 'task.created' AS event, c.id, c.tenant, c.task_type, c.biz_key AS key, c.job, c.fire_time, c.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_strip_nulls(jsonb_build_object('at', c.due_at, 'replaces', c.replaces)) AS data
    FROM created c
),
--include tell
