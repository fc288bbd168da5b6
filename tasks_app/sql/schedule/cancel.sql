-- cancel: whatever is live of these units -> CANCELLED. Takes a rolling SUCCESS too, by clearing due_at.
WITH moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', due_at = NULL, batch_no = NULL, error_code = 'CANCELLED', error_msg = %(reason)s,
        cancelled_by = %(by)s, updated_at = clock_timestamp(),
--include end_of_run
    WHERE t.tenant = %(tenant)s AND t.task_type = %(type)s AND t.biz_key = %(key)s AND t.current AND
--include live
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.start_time IS NOT NULL AS ran
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'CANCELLED', 'reason', left(%(reason)s::text, 500), 'by', %(by)s::text) AS data,
           TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id, ran FROM moved
