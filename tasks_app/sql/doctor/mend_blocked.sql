-- mend_blocked: instances that are BLOCKED and wait for nothing -> INIT, due.
WITH moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', due_at = greatest(t.execute_time, clock_timestamp()), updated_at = clock_timestamp()
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.status = 'BLOCKED' AND t.job IS NOT NULL
      AND NOT EXISTS (SELECT FROM punctual_turn u WHERE u.task = t.id AND u.state <> 'taken')
      AND NOT EXISTS (SELECT FROM punctual_wait w WHERE w.task = t.id)
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.due_at
), news AS NOT MATERIALIZED (
    SELECT 'task.released' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('at', m.due_at) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id FROM moved
