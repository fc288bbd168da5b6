-- cancel_tasks: cancel for rows that an operator chose; only what is live of them -> CANCELLED.
WITH mine AS MATERIALIZED (
    SELECT id, status FROM punctual_task WHERE id = ANY (%(ids)s::bigint[]) ORDER BY id FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', due_at = NULL, batch_no = NULL, error_code = 'CANCELLED', error_msg = %(reason)s,
        cancelled_by = %(by)s, cancelled_from = %(from)s::text, updated_at = clock_timestamp(),
--include end_of_run
    FROM mine
    WHERE t.id = mine.id AND t.current AND
--include live
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, mine.status AS was
), home AS (
    DELETE FROM punctual_away a USING moved m WHERE m.was = 'AWAY' AND a.task = m.id
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'CANCELLED', 'reason', left(%(reason)s::text, 500), 'by', %(by)s::text) AS data,
           TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id FROM moved
