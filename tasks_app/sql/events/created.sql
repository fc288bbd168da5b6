-- New tasks, which are in `created`, and what is told of them. The brace closes `created`, or what stands after it.
), news AS NOT MATERIALIZED (
    SELECT 'task.created' AS event, c.id, c.tenant, c.task_type, c.biz_key AS key, c.job, c.fire_time, c.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_strip_nulls(jsonb_build_object('at', c.due_at, 'replaces', c.replaces)) AS data, TRUE AS with_data
    FROM created c
),
--include tell
